import type { Profile } from "../v1/schemas/profile.ts";
import type { Target } from "./target.ts";

/** What the service, or a snapshot of it, shows of a contact's consent. */
export type ShownConsent = Pick<Profile["attributes"], "email_opt_in" | "phone_opt_in" | "is_suppressed">;

/** A snapshot of the service, as bulk takes it: `readSnapshot` and `openSnapshot` of `audience-sdk/snapshot` give one. */
export interface ConsentSnapshot {
  /** The number of its contacts. */
  readonly size: number;
  /** When its reading began. */
  readonly readAt: Date;
  /** @internal Throws a `ConfigurationError` if it is of another target, or no contact of it shows a consent. */
  checkFor(target: Target, signal: AbortSignal): Promise<void>;
  /** @internal What it shows of the contacts that have one of these keys. */
  shownOf(keys: readonly string[]): readonly ShownConsent[];
}
