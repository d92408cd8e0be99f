import { inOneMessage, type Problem, problemsOf, type Rule } from "./json-rules.ts";
import type { MockVariants } from "./variants.ts";

/** What else is known of a refusal. */
export interface RefusalDetails {
  problems?: readonly Problem[];
  /** Whether the contact was written before the refusal, as by a 404 of add-to-list. */
  applied?: boolean;
  /** The section of the service document that has the rule; by default that of the endpoint. */
  section?: string;
  /** The variant that decides, where the document is silent. */
  variant?: keyof MockVariants;
}

/** The refusal of a request with an error status. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: RefusalDetails;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.details = details;
  }
}

/** The refusal of one field. */
export function refusalOf(path: string, message: string, details: RefusalDetails = {}): Refusal {
  return new Refusal(400, message, { ...details, problems: [{ path, message }] });
}

/** Refuses the body of a request with a 400 that names every problem at once. */
export function require(body: unknown, rule: Rule, details: RefusalDetails): void {
  const problems = problemsOf(body, rule);
  if (problems.length > 0) throw new Refusal(400, inOneMessage(problems), { ...details, problems });
}
