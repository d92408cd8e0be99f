import { AudienceError } from "./audience-error.ts";

/** An option is missing, of a wrong type, or unsafe. Nothing was sent. */
export class ConfigurationError extends AudienceError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration";

  constructor(message: string) {
    super(message, "not-sent");
  }
}
