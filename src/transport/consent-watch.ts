import type { ConsentWrite } from "../consent.ts";
import type { Outcome } from "../errors.ts";

/** Told of every write of a client that states a consent: a bulk run, none of whose rows may override it. */
export interface ConsentWatch {
  /** From now on the write may be carried out. The write waits for it. */
  begins(write: ConsentWrite): Promise<void>;
  /** What the write came to, before the next write to the same contact begins. */
  ended(write: ConsentWrite, outcome: Outcome): void;
}
