import { inBackground } from "./background-timer.ts";
import {
  answersWithinMs,
  type PlaceStore,
  type ReportRequest,
  type StoreState,
  type TakeAnswer,
  type TakeRequest,
} from "./place-store.ts";

interface StoreLinkOptions {
  readonly store: PlaceStore;
  readonly windowCount: number;
  /** Called with the ids of places that a store granted to a request that was given up meanwhile. */
  readonly onLateGrant: (ids: readonly string[]) => void;
}

const notAnAnswer = "an answer that makes no sense";

/** The calls to a store, each of which ends: with an answer that makes sense, or with a rejection, in time. */
export class StoreLink {
  readonly #store: PlaceStore;
  readonly #windowCount: number;
  readonly #onLateGrant: (ids: readonly string[]) => void;

  constructor({ store, windowCount, onLateGrant }: StoreLinkOptions) {
    this.#store = store;
    this.#windowCount = windowCount;
    this.#onLateGrant = onLateGrant;
  }

  async take(request: TakeRequest): Promise<TakeAnswer> {
    const answering = attempt(() => this.#store.take(request));
    const giveBackLate = (answer: TakeAnswer): void =>
      this.#onLateGrant(request.ids.slice(0, answer.granted));
    const answer = await inTime(answering, giveBackLate);
    const { granted, waitMs } = answer;
    if (!isCount(granted) || granted > request.ids.length || !isCount(waitMs)) throw new Error(notAnAnswer);
    return this.#check(answer);
  }

  async report(request: ReportRequest): Promise<StoreState> {
    return this.#check(await inTime(attempt(() => this.#store.report(request))));
  }

  #check<S extends StoreState>(state: S): S {
    const { epoch, pausedMs, share, used } = state;
    const makesSense =
      typeof epoch === "string" &&
      isCount(pausedMs) &&
      share > 0 &&
      share <= 1 &&
      Array.isArray(used) &&
      used.length === this.#windowCount &&
      used.every(isCount);
    if (!makesSense) throw new Error(notAnAnswer);
    return state;
  }
}

/** A store may throw instead of rejecting. */
async function attempt<T>(call: () => Promise<T>): Promise<T> {
  return call();
}

function inTime<T>(answering: Promise<T>, onLate: (answer: T) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const callOff = inBackground(answersWithinMs, () => {
      isLate = true;
      reject(new Error(`no answer within ${answersWithinMs} ms`));
    });
    answering.then(
      (answer) => {
        callOff();
        if (isLate) onLate(answer);
        else resolve(answer);
      },
      (error: unknown) => {
        callOff();
        reject(error);
      },
    );
  });
}

function isCount(value: unknown): value is number {
  return Number.isFinite(value) && Number(value) >= 0;
}
