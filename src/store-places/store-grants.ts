import type { OwnPlaces } from "./own-places.ts";
import type { StoreState, TakeRequest } from "./place-store.ts";
import type { StoreLink } from "./store-link.ts";

interface StoreGrantsOptions {
  readonly link: StoreLink;
  readonly own: OwnPlaces;
  readonly clock: () => number;
  /** What every request carries. */
  readonly base: () => Omit<TakeRequest, "ids">;
  /** Called with the ids of places that nobody here uses. */
  readonly giveBack: (ids: readonly string[]) => void;
  readonly onAnswer: (state: StoreState) => void;
  readonly onFailure: (reason: unknown) => void;
}

// More at once would only be held here, out of reach of other processes.
const mostAtOnce = 100;
// A store that has free places keeps them for others no longer than this.
const longestTurnMs = 1_000;

/** The places that a store has granted and nobody has taken yet, and the question for more: one at a time. */
export class StoreGrants {
  readonly #options: StoreGrantsOptions;
  readonly #inHand: string[] = [];
  #grantedAt = -Infinity;
  #wanted = 0;
  #isAsking = false;
  #askAt = -Infinity;
  #isOff = false;
  #notBefore = -Infinity;

  constructor(options: StoreGrantsOptions) {
    this.#options = options;
  }

  /** How many are in hand. */
  count(now: number): number {
    // A process that was halted: the store may have taken its places for those of a dead one.
    if (now > this.#grantedAt + this.#options.base().leaseMs / 2) this.#keep(0);
    return this.#inHand.length;
  }

  shift(): string | undefined {
    return this.#inHand.shift();
  }

  /** When the store is asked again; at once where that lies behind. */
  get askAt(): number {
    return Math.max(this.#askAt, this.#notBefore);
  }

  /** There are free places, which was not to be foreseen: they were given back. Turns are a matter of moments. */
  askSooner(now: number): void {
    if (this.#askAt > now + longestTurnMs) this.#askAt = now;
  }

  /** So many are wanted: what is over goes back, what is missing is asked for. */
  want(places: number, now: number): void {
    this.#keep(places);
    this.#wanted = places - this.#inHand.length;
    if (this.#wanted <= 0 || this.#isAsking || now < this.askAt) return;
    this.#isAsking = true;
    // All that begin to wait in this turn of the event loop are asked for at once.
    void Promise.resolve().then(() => this.#ask(Math.min(Math.max(1, this.#wanted), mostAtOnce)));
  }

  /** While the store is away nothing stays in hand. */
  hold(): void {
    this.#isOff = true;
    this.#keep(0);
  }

  /** The store is back; it is asked from `at` on. */
  comeBack(at: number): void {
    this.#isOff = false;
    this.#notBefore = at;
  }

  #keep(places: number): void {
    const over = this.#inHand.splice(places);
    if (over.length > 0) this.#options.giveBack(over);
  }

  #ask(places: number): void {
    const { link, own, clock, base, giveBack, onAnswer, onFailure } = this.#options;
    const ids = Array.from({ length: places }, () => own.newId());
    const askedAt = clock();
    link.take({ ...base(), ids }).then(
      (answer) => {
        this.#isAsking = false;
        this.#grantedAt = askedAt;
        this.#inHand.push(...ids.slice(0, answer.granted));
        if (this.#isOff) this.#keep(0);
        // Asked a moment early, a place is not yet free.
        if (answer.granted < ids.length) this.#askAt = clock() + Math.max(1, answer.waitMs);
        onAnswer(answer);
      },
      (reason: unknown) => {
        this.#isAsking = false;
        // They may have been granted all the same, and the answer lost.
        giveBack(ids);
        onFailure(reason);
      },
    );
  }
}
