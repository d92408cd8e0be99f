import { familyOf, type OpenedClient } from "../open-client.ts";
import { type Target, targetOf } from "../organization.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import type { Observer } from "../transport/observer.ts";

/** What a snapshot needs to know of the client by which it is read. */
export interface SnapshotSource {
  /** The organization and the v1 family: only v1 lists contacts. */
  readonly target: Target;
  readonly observer: Pick<Observer, "info" | "warn" | "failed">;
  readonly limiter: Pick<RateLimiter, "estimateMs"> | undefined;
}

/** Throws a `ConfigurationError` if the client has no v1 family, or the name holds a key. */
export function snapshotSource(
  { settings, transport: { client } }: OpenedClient,
  organization: string | undefined,
): SnapshotSource {
  familyOf(settings, "v1");
  const target = targetOf(organization, settings, client.redactor);
  const families = target.families.filter(({ name }) => name === "v1");
  return { target: { ...target, families }, observer: settings.observer, limiter: client.limiter };
}
