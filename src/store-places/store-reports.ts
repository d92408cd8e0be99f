import type { OwnPlaces } from "./own-places.ts";
import type { StorePlace, StoreState, TakeRequest } from "./place-store.ts";
import type { StoreLink } from "./store-link.ts";

interface StoreReportsOptions {
  readonly link: StoreLink;
  readonly own: OwnPlaces;
  readonly clock: () => number;
  /** What every request carries. */
  readonly base: () => Omit<TakeRequest, "ids">;
  readonly onAnswer: (state: StoreState) => void;
  readonly onFailure: (reason: unknown) => void;
}

/**
 * What a store is told of the places of this process: in batches, one at a time; while one is under way the next gathers.
 *
 * Nothing is lost with a report that fails: it is told with the next one.
 */
export class StoreReports {
  readonly #options: StoreReportsOptions;
  readonly #notes = new Map<string, StorePlace & { readonly notedAt: number }>();
  #mustTellAll: boolean;
  #isUnderWay = false;
  #isHeld = false;
  #succeeded = 0;
  /** Until when a 429 pauses everybody; undefined where the store has been told of all. */
  #refusedUntil: number | undefined;

  constructor(options: StoreReportsOptions) {
    this.#options = options;
    this.#mustTellAll = options.own.size > 0;
  }

  /** Whether the store has yet to hear of places that it may not know: before that, it is not asked for more. */
  get isBehind(): boolean {
    return this.#mustTellAll;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  note(place: StorePlace): void {
    this.#notes.set(place.id, { ...place, notedAt: this.#options.clock() });
  }

  noteSuccess(): void {
    this.#succeeded += 1;
  }

  noteRefusal(pausedUntil: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil ?? -Infinity, pausedUntil);
  }

  /** Whether the store has yet to hear of a 429. */
  get hasRefusal(): boolean {
    return this.#refusedUntil !== undefined;
  }

  tellAll(): void {
    this.#mustTellAll = true;
    this.send();
  }

  /** No reports, until `comeBack`. */
  hold(): void {
    this.#isHeld = true;
  }

  send(): void {
    if (this.#isUnderWay || this.#isHeld) return;
    this.#isUnderWay = true;
    // What happens in this turn of the event loop goes into the same report.
    void Promise.resolve().then(() => this.#tell({ isReturning: false }));
  }

  /**
   * Whether a store that was away hears this process and is heard: asked in words that change nothing there.
   *
   * A returning report that is carried out and whose answer is lost would let the store settle in unheard, and be done
   * with it before all are back (D51).
   */
  async areHeard(): Promise<boolean> {
    const { link, base, onFailure } = this.#options;
    this.#isUnderWay = true;
    try {
      await link.report({ ...base(), epoch: undefined, places: [], succeeded: 0, isReturning: false });
      return true;
    } catch (reason) {
      onFailure(reason);
      return false;
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Tells everything to a store that was away; where it answers, `onBack` is called before anything else. */
  comeBack(isReturning: boolean, onBack: () => void): Promise<void> {
    this.#isUnderWay = true;
    this.#mustTellAll = true;
    return this.#tell({ isReturning, onBack });
  }

  async #tell({ isReturning, onBack }: { isReturning: boolean; onBack?: () => void }): Promise<void> {
    const { link, own, clock, base, onAnswer, onFailure } = this.#options;
    const now = clock();
    const notes = [...this.#notes.values()];
    const succeeded = this.#succeeded;
    const refusedUntil = this.#refusedUntil;
    const places = new Map(this.#mustTellAll ? own.stand(now).map((place) => [place.id, place]) : []);
    this.#mustTellAll = false;
    for (const { notedAt, ...place } of notes) {
      places.set(place.id, { ...place, agoMs: place.agoMs + now - notedAt });
    }
    // Where its pause is over, a 429 still takes its part of the pace.
    const refusal = refusedUntil === undefined ? {} : { refusedForMs: Math.max(0, refusedUntil - now) };
    let state: StoreState;
    try {
      const report = { ...base(), places: [...places.values()], succeeded, ...refusal, isReturning };
      state = await link.report(report);
    } catch (reason) {
      // The policy of the store holds from here on; when it is back it is told everything.
      this.#isUnderWay = false;
      onFailure(reason);
      return;
    }
    this.#isUnderWay = false;
    for (const note of notes) if (this.#notes.get(note.id) === note) this.#notes.delete(note.id);
    this.#succeeded -= succeeded;
    if (this.#refusedUntil === refusedUntil) this.#refusedUntil = undefined;
    if (onBack) {
      this.#isHeld = false;
      onBack();
    }
    onAnswer(state);
    if (this.#notes.size > 0 || this.#mustTellAll || this.hasRefusal) this.send();
  }
}
