import { AudienceError, type Outcome } from "./audience-error.ts";

export interface UnexpectedResponseDetails {
  message: string;
  outcome: Outcome;
  status: number;
  body: unknown;
}

/** A 2xx whose body is not what is documented, cannot be read, or is too large. */
export class UnexpectedResponseError extends AudienceError {
  override readonly name = "UnexpectedResponseError";
  readonly code = "unexpected_response";
  /** The 2xx of the answer. */
  declare readonly status: number;
  /** The parsed JSON, else the text, as far as it was read. */
  declare readonly body: unknown;

  constructor({ message, outcome, ...facts }: UnexpectedResponseDetails) {
    super(message, outcome, facts);
  }
}

/** The answer was a redirect. It is never followed, so no key and no contact leaves the origin that was given. */
export class RedirectError extends AudienceError {
  override readonly name = "RedirectError";
  readonly code = "redirect";
  /** The 3xx of the answer. */
  declare readonly status: number;
  /** Where it leads, as the answer says. */
  declare readonly location?: string;

  constructor({ message, ...facts }: { message: string; status: number; location?: string | undefined }) {
    super(message, "not-applied", facts);
  }
}
