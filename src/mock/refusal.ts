/** One thing that is wrong with a request: where, and which rule it breaks. */
export interface Problem {
  /** The field as in JSON, for example `custom_properties.plan`; empty where it is the whole body. */
  path: string;
  /** Which rule it breaks, in words. */
  message: string;
}

/** A request that the service answers with an error status; nothing else throws it. */
export class Refusal extends Error {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** A 404 of add-to-list may come after the contact was written. */
  readonly applied: boolean;

  constructor(status: number, message: string, problems: readonly Problem[] = [], applied = false) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.problems = problems;
    this.applied = applied;
  }
}
