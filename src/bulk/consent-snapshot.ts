import { ConfigurationError } from "../errors.ts";
import type { Target } from "../organization.ts";
import type { Profile } from "../v1/schemas/profile.ts";

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
  /** @internal The contacts that have one of these keys. */
  shownOf(keys: readonly string[]): readonly (ShownConsent & { readonly id: string })[];
}

const dayMs = 86_400_000;

/** Before a run: throws if the snapshot is too old, of another target, or shows no consent. */
export async function checkSnapshot(
  snapshot: ConsentSnapshot,
  target: Target,
  signal: AbortSignal,
): Promise<void> {
  const { readAt } = snapshot;
  if (Math.abs(Date.now() - readAt.getTime()) > dayMs)
    throw new ConfigurationError(
      `The snapshot was begun at ${readAt.toISOString()}, over a day from now: many may have unsubscribed since. ` +
        "Read a new one with readSnapshot.",
    );
  await snapshot.checkFor(target, signal);
}
