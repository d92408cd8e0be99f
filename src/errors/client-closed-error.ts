import { AudienceError, type Outcome } from "./audience-error.ts";

/**
 * The client was closed before the call had ended. Calls that still waited were not sent.
 *
 * ```ts
 * if (isAudienceError(error) && error.code === "closed") return; // this process is stopping
 * ```
 */
export class ClientClosedError extends AudienceError {
  override readonly name = "ClientClosedError";
  readonly code = "closed";

  constructor(outcome: Outcome = "not-sent") {
    super("The client was closed.", outcome);
  }
}
