import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { MeanRoundTrip } from "../rate-limiter/estimate.ts";
import { countsFrom, createPermit, type Permit, type PermitUse } from "../rate-limiter/permit.ts";
import { widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { AbsenceObserver, PermitStore, StoreUser } from "../rate-limiter/store.ts";
import { AwayCount } from "./away-count.ts";
import { inBackground } from "./background-timer.ts";
import { OwnPlaces } from "./own-places.ts";
import {
  heartbeatMs,
  limitInForce,
  type PlaceStore,
  type StoreState,
  type StoreWindow,
  type TakeRequest,
} from "./place-store.ts";
import { sharedUsage } from "./shared-usage.ts";
import { SharedView } from "./shared-view.ts";
import { StoreAbsence } from "./store-absence.ts";
import { StoreGrants } from "./store-grants.ts";
import { StoreLink } from "./store-link.ts";
import { StoreReports } from "./store-reports.ts";

/**
 * Places that a store grants, several at once for all that wait here, and what becomes of them.
 *
 * Nothing here waits for a store that is away: its own policy holds then, and on its return it is told everything.
 */
export class SharedPlaces implements PermitStore {
  readonly #store: PlaceStore;
  readonly #limits: readonly RateLimitWindow[];
  readonly #counted: readonly StoreWindow[];
  readonly #rate: AdaptiveRate;
  readonly #clock: () => number;
  readonly #onChange: () => void;
  readonly #roundTrip = new MeanRoundTrip();
  readonly #own: OwnPlaces;
  readonly #view: SharedView;
  readonly #grants: StoreGrants;
  readonly #reports: StoreReports;
  readonly #absence: StoreAbsence;
  #epoch: string | undefined;
  #contactAt = -Infinity;
  #isBeating = false;

  constructor(store: PlaceStore, { windows, restored, rate, clock, onChange }: StoreUser) {
    const longestMs = Math.max(...windows.map(({ intervalMs }) => intervalMs));
    const counted = windows.map(({ limit, intervalMs }) => ({
      limit,
      countedMs: widenedMs(intervalMs),
      shrinks: intervalMs !== longestMs,
    }));
    const own = new OwnPlaces(widenedMs(longestMs), restored);
    const giveBack = (ids: readonly string[]): void => this.#giveBack(ids);
    const link = new StoreLink({ store, windowCount: windows.length, onLateGrant: giveBack });
    const base = (): Omit<TakeRequest, "ids"> => ({
      windows: counted,
      epoch: this.#epoch,
      leaseMs: store.leaseMs,
    });
    const onFailure = (reason: unknown): void => this.#goAway(reason);
    const shared = { link, own, clock, base, onFailure };
    this.#store = store;
    this.#limits = windows;
    this.#counted = counted;
    this.#rate = rate;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#own = own;
    this.#view = new SharedView(windows);
    this.#grants = new StoreGrants({ ...shared, giveBack, onAnswer: (state) => this.#hear(state) });
    this.#reports = new StoreReports({ ...shared, onAnswer: (state) => this.#hearOfPlaces(state) });
    const onReturn = (onTop: readonly number[]): void => this.#view.leavesToOthers(onTop, clock());
    this.#absence = new StoreAbsence({
      store,
      clock,
      onReturn,
      grants: this.#grants,
      reports: this.#reports,
    });
  }

  available(now: number): number {
    if (this.#rate.pausedMs(now) > 0 || this.refusal()) return 0;
    return this.#away ? this.#away.free(now, this.#rate.factor) : this.#grants.count(now);
  }

  acquire(now: number): Permit {
    const away = this.#away;
    // While the store is away nothing is in hand, and the id is one that it has yet to hear of.
    const id = this.#grants.shift() ?? this.#own.newId();
    away?.take();
    this.#own.hold(id);
    return createPermit((end) => this.#end(id, end, { takenAt: now, away }));
  }

  demand(calls: number, now: number): void {
    this.#beat();
    if (this.#away) return;
    const isPaused = this.#rate.pausedMs(now) > 0;
    if (this.#reports.isBehind) this.#reports.send();
    else this.#grants.want(isPaused ? 0 : calls, now);
  }

  nextAvailableInMs(now: number): number | undefined {
    const pausedMs = this.#rate.pausedMs(now);
    if (this.#away) return Math.max(pausedMs, this.#away.etaMs(now, this.#rate.factor));
    const askInMs = Math.max(pausedMs, this.#grants.askAt - now);
    return askInMs > 0 ? askInMs : undefined;
  }

  refusal(): string | undefined {
    return this.#absence.refusal();
  }

  observe(observer: AbsenceObserver, place: Permit | Promise<Permit>): void {
    this.#absence.tell(observer, place);
  }

  estimate(now: number): Estimate {
    const startsInMs = this.nextAvailableInMs(now) ?? 0;
    const outlook = { roundTripMs: this.#roundTrip.ms, startsInMs, share: this.#rate.factor };
    return (this.#away ?? this.#view).forecast(now, outlook);
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#view.limitingWindow(position, now);
  }

  usage(now: number): WindowUsage[] {
    const { factor: share } = this.#rate;
    const alone = this.#away;
    if (alone && !this.refusal()) return alone.usage(now, share);
    return sharedUsage({
      windows: this.#limits,
      counted: this.#counted,
      own: this.#own,
      view: this.#view,
      share,
      waitMs: Math.max(0, this.#grants.askAt - now),
      now,
    });
  }

  get inFlight(): number {
    return this.#own.inFlight;
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#rate.refused(now, retryAfterMs);
    this.#reports.noteRefusal(now + this.#rate.pausedMs(now));
    this.#reports.send();
    this.#onChange();
  }

  succeeded(): void {
    if (this.#rate.factor === 1) return;
    this.#rate.succeeded();
    this.#reports.noteSuccess();
  }

  entries(now: number): [id: string, answeredAt: number | undefined][] {
    return [...this.#own.entries(now)];
  }

  #end(
    id: string,
    use: PermitUse,
    { takenAt, away }: { takenAt: number; away: AwayCount | undefined },
  ): void {
    const now = this.#clock();
    if (use === "unsent") {
      away?.giveBack();
      this.#own.forget(id);
      this.#giveBack([id]);
    } else {
      if (use === "responded") this.#roundTrip.add(now - takenAt);
      const at = countsFrom(use, now);
      away?.answer(at);
      this.#own.answer(id, at);
      this.#reports.note({ id, state: "answered", agoMs: now - at });
      this.#reports.send();
    }
    this.#onChange();
  }

  #giveBack(ids: readonly string[]): void {
    for (const id of ids) this.#reports.note({ id, state: "unused", agoMs: 0 });
    this.#reports.send();
  }

  #hear(state: StoreState): void {
    const now = this.#clock();
    // Another memory: the store has forgotten our places, or never knew them.
    const hasForgotten = this.#epoch !== undefined && state.epoch !== this.#epoch;
    if (hasForgotten) this.#view.outlastsMemory(now);
    this.#epoch = state.epoch;
    this.#contactAt = now;
    this.#view.see(state.used, now);
    // What the store says before it has heard of a 429 is no judgement of it.
    const share = this.#reports.hasRefusal ? Math.min(state.share, this.#rate.factor) : state.share;
    this.#rate.follow(share, now + state.pausedMs);
    if (hasForgotten) this.#reports.tellAll();
    this.#onChange();
  }

  /** The answer to a report: it may show what nobody could foresee when this process was told how long to wait. */
  #hearOfPlaces(state: StoreState): void {
    const isFree = this.#counted.every(
      (window, index) => state.used[index]! < limitInForce(window, state.share),
    );
    if (isFree) this.#grants.askSooner(this.#clock());
    this.#hear(state);
  }

  #goAway(reason: unknown): void {
    this.#absence.begin(reason, () => this.#countAlone(this.#clock()));
    this.#onChange();
  }

  /** Begins with what is taken in each window, as far as this process knows. */
  #countAlone(now: number): AwayCount {
    const hadContact = this.#epoch !== undefined;
    const own = this.#own.counted(this.#limits, now).usage(now);
    return new AwayCount({
      windows: this.#limits,
      used: hadContact ? this.#view.usedByAll(now) : own.map(({ used }) => used),
      seenMsAgo: hadContact ? now - this.#contactAt : undefined,
      share: this.#store.localShare,
      now,
    });
  }

  get #away(): AwayCount | undefined {
    return this.#absence.count;
  }

  /** Reports as long as the limiter lives, so that a store that lost its memory hears of our places in time. */
  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    // Often enough that a lease holds even if one report is lost.
    beatWhileAlive(new WeakRef(this), Math.min(heartbeatMs, this.#store.leaseMs / 3));
  }

  /** Tells the store that this process lives, and which places it holds; nothing where it has just heard of it. */
  heartbeat(): void {
    const held = [...this.#own.held()];
    if (held.length === 0 && this.#clock() - this.#contactAt < heartbeatMs / 2) return;
    for (const id of held) this.#reports.note({ id, state: "held", agoMs: 0 });
    this.#reports.send();
  }
}

function beatWhileAlive(places: WeakRef<SharedPlaces>, everyMs: number): void {
  inBackground(everyMs, () => {
    const alive = places.deref();
    if (!alive) return;
    alive.heartbeat();
    beatWhileAlive(places, everyMs);
  });
}
