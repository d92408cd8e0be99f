import type { RateLimitWindow } from "../errors.ts";
import { AwayCount } from "./away-count.ts";
import { inBackground } from "./background-timer.ts";
import type { Forecast } from "./forecast.ts";
import { OwnPlaces } from "./own-places.ts";
import { createPlace, type Place, type PlaceEnd } from "./place.ts";
import type { Places, WindowUsage } from "./places.ts";
import { RoundTrip } from "./round-trip.ts";
import type { SlowDown } from "./slow-down.ts";
import { SharedView } from "./shared-view.ts";
import { StoreLink } from "./store-link.ts";
import { heartbeatMs, type RateLimitStore, type StorePlace, type StoreState, type StoreWindow } from "./store.ts";
import { widened } from "./windows.ts";

interface SharedPlacesOptions {
  readonly store: RateLimitStore;
  readonly windows: readonly RateLimitWindow[];
  readonly restored: readonly (readonly [id: string, answeredAt: number])[];
  readonly slowDown: SlowDown;
  readonly clock: () => number;
  readonly onChange: () => void;
}

// While the store is away it is tried again this often.
const tryAgainMs = 1_000;
// More at once would only be held here, out of reach of other processes.
const mostAtOnce = 100;

/**
 * Places that a store grants, several at once for all that wait here.
 *
 * What becomes of them is reported back in batches: while a report is under way the next one gathers. Nothing here waits
 * for a store that is away; its own policy holds then, and on its return it is told everything.
 */
export class SharedPlaces implements Places {
  readonly #store: RateLimitStore;
  readonly #link: StoreLink;
  readonly #limits: readonly RateLimitWindow[];
  readonly #windows: StoreWindow[];
  readonly #slowDown: SlowDown;
  readonly #clock: () => number;
  readonly #onChange: () => void;
  readonly #roundTrip = new RoundTrip();
  readonly #own: OwnPlaces;
  readonly #view: SharedView;

  /** Granted, and not handed out yet. */
  readonly #inHand: string[] = [];
  #grantedAt = -Infinity;
  #wanted = 0;
  #isAsking = false;
  #askAt = -Infinity;

  readonly #toReport = new Map<string, StorePlace & { readonly since: number }>();
  #mustReportAll: boolean;
  #isReporting = false;
  #succeeded = 0;
  #refusedUntil = -Infinity;

  #epoch: string | undefined;
  #contactAt = -Infinity;
  #away: AwayCount | undefined;
  #awaySince = 0;
  #willTryAgain = false;
  #isBeating = false;

  constructor({ store, windows, restored, slowDown, clock, onChange }: SharedPlacesOptions) {
    const longestMs = Math.max(...windows.map(({ intervalMs }) => intervalMs));
    this.#store = store;
    this.#limits = windows;
    this.#windows = windows.map(({ limit, intervalMs }) => ({
      limit,
      countedMs: widened(intervalMs),
      shrinks: intervalMs !== longestMs,
    }));
    this.#link = new StoreLink({
      store,
      windowCount: windows.length,
      onLateGrant: (ids) => this.#giveBack(ids),
    });
    this.#slowDown = slowDown;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#own = new OwnPlaces(widened(longestMs), restored);
    this.#view = new SharedView(windows);
    this.#mustReportAll = this.#own.size > 0;
  }

  free(now: number): number {
    if (this.#slowDown.pausedMs(now) > 0) return 0;
    // A process that was halted: the store may have taken its places for those of a dead one.
    if (now > this.#grantedAt + this.#store.leaseMs / 2) this.#giveBack(this.#inHand.splice(0));
    if (this.refusal()) return 0;
    return this.#away ? this.#away.free(now, this.#slowDown.share) : this.#inHand.length;
  }

  take(now: number): Place {
    const away = this.#away;
    const id = away ? this.#own.newId() : this.#inHand.shift()!;
    away?.take();
    this.#own.hold(id);
    return createPlace((end) => this.#end(id, end, { takenAt: now, away }));
  }

  want(calls: number, now: number): void {
    const isPaused = this.#slowDown.pausedMs(now) > 0;
    this.#giveBack(this.#inHand.splice(isPaused ? 0 : calls));
    this.#wanted = calls - this.#inHand.length;
    this.#beat();
    if (this.#wanted <= 0 || isPaused || this.#away || this.#isAsking || now < this.#askAt) return;
    if (this.#mustReportAll) return this.#report();
    this.#isAsking = true;
    // All that begin to wait in this turn of the event loop are asked for at once.
    void Promise.resolve().then(() => this.#ask(Math.min(Math.max(1, this.#wanted), mostAtOnce)));
  }

  etaMs(now: number): number | undefined {
    const pausedMs = this.#slowDown.pausedMs(now);
    if (this.#away) return Math.max(pausedMs, this.#away.etaMs(now, this.#slowDown.share));
    if (this.#inHand.length > 0) return pausedMs;
    const askInMs = Math.max(pausedMs, this.#askAt - now);
    return askInMs > 0 ? askInMs : undefined;
  }

  refusal(): string | undefined {
    if (!this.#away) return undefined;
    if (this.#store.onUnavailable === "reject") return "The store of the rate limit is away.";
    return this.#away.isTooSmall ? "The store of the rate limit is away, and `localShare` of it is no place." : undefined;
  }

  forecast(now: number): Forecast {
    const startsInMs = this.etaMs(now) ?? 0;
    const { meanMs } = this.#roundTrip;
    if (this.#away) return this.#away.forecast(now, meanMs, startsInMs);
    return this.#view.forecast(now, { roundTripMs: meanMs, startsInMs, share: this.#slowDown.share });
  }

  heldBackBy(place: number, now: number): RateLimitWindow {
    return this.#view.fullest(place, now);
  }

  windows(now: number): WindowUsage[] {
    return this.#view.usage(now);
  }

  get inFlight(): number {
    return this.#own.inFlight;
  }

  pausedMs(now: number): number {
    return this.#slowDown.pausedMs(now);
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#slowDown.refused(now, retryAfterMs);
    this.#refusedUntil = Math.max(this.#refusedUntil, now + this.#slowDown.pausedMs(now));
    this.#report();
    this.#onChange();
  }

  succeeded(): void {
    if (this.#slowDown.share === 1) return;
    this.#slowDown.succeeded();
    this.#succeeded += 1;
  }

  entries(now: number): [id: string, answeredAt: number | undefined][] {
    return [...this.#own.entries(now)];
  }

  #ask(places: number): void {
    const ids = Array.from({ length: places }, () => this.#own.newId());
    const { leaseMs } = this.#store;
    const askedAt = this.#clock();
    this.#link.take({ windows: this.#windows, ids, epoch: this.#epoch, leaseMs }).then(
      (answer) => {
        this.#isAsking = false;
        this.#grantedAt = askedAt;
        this.#inHand.push(...ids.slice(0, answer.granted));
        // A place more than a moment ahead of its time is asked for in vain: better a moment late.
        if (answer.granted < ids.length) this.#askAt = this.#clock() + Math.max(1, answer.waitMs);
        this.#hear(answer);
      },
      () => {
        this.#isAsking = false;
        // It may have been granted all the same, and the answer lost.
        this.#giveBack(ids);
        this.#goAway();
      },
    );
  }

  #end(id: string, end: PlaceEnd, { takenAt, away }: { takenAt: number; away: AwayCount | undefined }): void {
    const now = this.#clock();
    if (end.state === "unused") {
      away?.giveBack();
      this.#own.forget(id);
      this.#note({ id, state: "unused", agoMs: 0 }, now);
    } else {
      const aheadMs = end.state === "lost" ? end.arrivesWithinMs : 0;
      if (end.state === "answered") this.#roundTrip.add(now - takenAt);
      away?.answer(now + aheadMs);
      this.#own.answer(id, now + aheadMs);
      this.#note({ id, state: "answered", agoMs: -aheadMs }, now);
    }
    this.#report();
    this.#onChange();
  }

  #giveBack(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#note({ id, state: "unused", agoMs: 0 }, this.#clock());
    this.#report();
  }

  #note(place: StorePlace, since: number): void {
    this.#toReport.set(place.id, { ...place, since });
  }

  /** Tells the store what has gathered, or everything; one report at a time. */
  #report(): void {
    if (this.#isReporting || this.#away) return;
    this.#isReporting = true;
    // What happens in this turn of the event loop goes into the same report.
    void Promise.resolve().then(() => this.#send());
  }

  async #send(comesBack?: { readonly isReturning: boolean }): Promise<void> {
    const now = this.#clock();
    const tellsAll = this.#mustReportAll || comesBack !== undefined;
    const noted = [...this.#toReport.values()];
    const places = new Map(noted.map(({ since, ...place }) => [place.id, { ...place, agoMs: place.agoMs + now - since }]));
    if (tellsAll) for (const place of this.#own.stand(now)) places.set(place.id, place);
    const succeeded = this.#succeeded;
    const refusedUntil = this.#refusedUntil;
    this.#mustReportAll = false;
    this.#refusedUntil = -Infinity;
    const state = await this.#link
      .report({
        windows: this.#windows,
        places: [...places.values()],
        epoch: this.#epoch,
        leaseMs: this.#store.leaseMs,
        succeeded,
        ...(refusedUntil > now ? { refusedForMs: refusedUntil - now } : {}),
        isReturning: comesBack?.isReturning ?? false,
      })
      .catch(() => undefined);
    this.#isReporting = false;
    if (!state) {
      // The policy of the store holds from here on; what could not be said is said when it is back.
      this.#mustReportAll ||= tellsAll;
      this.#refusedUntil = Math.max(this.#refusedUntil, refusedUntil);
      return this.#goAway();
    }
    for (const note of noted) if (this.#toReport.get(note.id) === note) this.#toReport.delete(note.id);
    this.#succeeded -= succeeded;
    if (comesBack) this.#away = undefined;
    this.#hear(state);
    if (this.#toReport.size > 0 || this.#mustReportAll) this.#report();
  }

  #hear(state: StoreState): void {
    const now = this.#clock();
    // Another memory: the store has forgotten our places, or never knew them.
    if (this.#epoch !== undefined && state.epoch !== this.#epoch) {
      this.#mustReportAll = true;
      this.#report();
    }
    this.#epoch = state.epoch;
    this.#contactAt = now;
    this.#view.see(state.used, now);
    this.#slowDown.follow(state.share, now + state.pausedMs);
    this.#onChange();
  }

  #goAway(): void {
    const now = this.#clock();
    if (!this.#away) {
      this.#giveBackInHand();
      this.#awaySince = now;
      this.#away = new AwayCount({
        windows: this.#limits,
        usedAtContact: this.#epoch === undefined ? undefined : this.#view.lastSeen,
        contactMsAgo: now - this.#contactAt,
        share: this.#store.localShare,
        now,
      });
    }
    this.#tryAgain();
    this.#onChange();
  }

  #tryAgain(): void {
    if (this.#willTryAgain) return;
    this.#willTryAgain = true;
    inBackground(tryAgainMs, () => {
      this.#willTryAgain = false;
      this.#comeBack();
    });
  }

  /** What the store granted before it went away is counted in what it had seen: it goes back, unused. */
  #giveBackInHand(): void {
    for (const id of this.#inHand.splice(0)) this.#note({ id, state: "unused", agoMs: 0 }, this.#clock());
  }

  #comeBack(): void {
    if (!this.#away) return;
    if (this.#isReporting) return this.#tryAgain();
    this.#isReporting = true;
    // A moment's silence in which nothing was sent is no absence: others need not wait for it.
    const isReturning = this.#away.taken > 0 || this.#clock() - this.#awaySince > 2 * heartbeatMs;
    void this.#send({ isReturning });
  }

  /** Reports as long as the limiter lives, so that a store that lost its memory hears of our places in time. */
  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    beatWhileAlive(new WeakRef(this));
  }

  /** @internal */
  heartbeat(): void {
    const now = this.#clock();
    for (const [id, answeredAt] of this.#own.entries(now)) {
      if (answeredAt === undefined) this.#note({ id, state: "held", agoMs: 0 }, now);
    }
    this.#report();
  }
}

function beatWhileAlive(places: WeakRef<SharedPlaces>): void {
  inBackground(heartbeatMs, () => {
    const alive = places.deref();
    if (!alive) return;
    alive.heartbeat();
    beatWhileAlive(places);
  });
}
