import type { ShownConsent } from "./consent-check.ts";
import type { Target } from "./target.ts";

/** A snapshot of the service, as bulk takes it: `readSnapshot` and `openSnapshot` of `audience-sdk/snapshot` give one. */
export interface ConsentSnapshot {
  /** The number of its contacts. */
  readonly size: number;
  /** When its reading began. */
  readonly readAt: Date;
  /** @internal Throws a `ConfigurationError` if it is of another target, or no contact of it shows a consent. */
  checkFor(target: Target, signal: AbortSignal): Promise<void>;
  /** @internal What it shows of the contacts that have one of these keys. */
  shownOf(keys: readonly string[]): ShownConsent[];
}
