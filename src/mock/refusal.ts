import { inOneMessage, type Problem, problemsOf, type Rule } from "./json-rules.ts";

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

/** The refusal of one field. */
export function refusalOf(path: string, message: string): Refusal {
  return new Refusal(400, message, [{ path, message }]);
}

/** Refuses the body of a request with a 400 that names every problem at once. */
export function require(body: unknown, rule: Rule): void {
  const problems = problemsOf(body, rule);
  if (problems.length > 0) throw new Refusal(400, inOneMessage(problems), problems);
}
