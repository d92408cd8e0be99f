/** One problem of a request. */
export interface Problem {
  /** The path of the field, such as `custom_properties.plan`; empty for the whole body. */
  path: string;
  /** The broken rule. */
  message: string;
}

/** The refusal of a request with an error status. */
export class Refusal extends Error {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Whether the contact was written before the refusal, as by a 404 of add-to-list. */
  readonly applied: boolean;

  constructor(status: number, message: string, problems: readonly Problem[] = [], applied = false) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.problems = problems;
    this.applied = applied;
  }
}
