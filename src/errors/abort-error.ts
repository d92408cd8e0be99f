import { AudienceError, type Outcome } from "./audience-error.ts";

/** The call's signal was aborted; `cause` is the signal's reason. */
export class AbortError extends AudienceError {
  override readonly name = "AbortError";
  readonly code = "aborted";

  constructor(details: { message?: string; outcome: Outcome; cause: unknown }) {
    super(details.message ?? "The call was aborted.", details.outcome, { cause: details.cause });
  }
}
