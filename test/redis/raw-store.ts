import { randomUUID } from "node:crypto";
import type {
  PlaceStore,
  StorePlace,
  StoreState,
  StoreWindow,
  TakeAnswer,
} from "../../src/store-places/place-store.ts";

/** A process that speaks to a store as the limiter does, word by word. */
export class RawProcess {
  epoch: string | undefined;
  readonly #store: PlaceStore;
  readonly #windows: readonly StoreWindow[];
  readonly #name = randomUUID();
  #made = 0;

  constructor(store: PlaceStore, windows: readonly StoreWindow[]) {
    this.#store = store;
    this.#windows = windows;
  }

  /** Asks for so many places; gives the answer, with the ids that were granted. */
  async take(places: number): Promise<TakeAnswer & { ids: string[] }> {
    const ids = Array.from({ length: places }, () => `${this.#name}:${(this.#made += 1)}`);
    const { leaseMs } = this.#store;
    const answer = await this.#store.take({ windows: this.#windows, ids, epoch: this.epoch, leaseMs });
    this.epoch = answer.epoch;
    return { ...answer, ids: ids.slice(0, answer.granted) };
  }

  async report(places: readonly StorePlace[], more: object = {}): Promise<StoreState> {
    const { leaseMs } = this.#store;
    const base = { windows: this.#windows, epoch: this.epoch, leaseMs, succeeded: 0, isReturning: false };
    const state = await this.#store.report({ ...base, places, ...more });
    this.epoch = state.epoch;
    return state;
  }

  /** Reports these as answered, so long ago. */
  answered(ids: readonly string[], agoMs = 0): Promise<StoreState> {
    return this.report(ids.map((id) => ({ id, state: "answered", agoMs })));
  }

  unused(ids: readonly string[]): Promise<StoreState> {
    return this.report(ids.map((id) => ({ id, state: "unused", agoMs: 0 })));
  }
}
