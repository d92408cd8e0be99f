import type { OpenedClient } from "../open-client.ts";
import { type Target, targetOf } from "../organization.ts";
import { v1Access } from "../v1/v1-client.ts";

/** What a snapshot needs to know of the client by which it is read. */
export interface SnapshotSource {
  /** The organization and the v1 family: only v1 lists contacts. */
  readonly target: Target;
  /** How long so many more calls take; undefined without a rate limiter. */
  readonly estimateMs: ((calls: number, priority: number) => number) | undefined;
  /** Says that the read waits for another one's lock. */
  readonly waitsForLock: () => void;
  /** Says that a read goes on that was begun over an hour ago. */
  readonly goesOnLate: (begunAt: string) => void;
  /** Says that `onProgress` has thrown. */
  readonly progressFailed: (error: unknown) => void;
}

/** Throws a `ConfigurationError` if the client has no v1 family, or the name holds a key. */
export function snapshotSource(
  { settings, transport: { client } }: OpenedClient,
  organization: string | undefined,
): SnapshotSource {
  v1Access(settings);
  const { observer } = settings;
  const hasLimiter = client.limiter !== undefined;
  const target = targetOf(organization, settings, client.redactor);
  return {
    target: { ...target, families: target.families.filter(({ name }) => name === "v1") },
    estimateMs: hasLimiter
      ? (calls, priority) => client.limiter!.estimateMs(calls, { priority }) // a client keeps having one
      : undefined,
    waitsForLock: () =>
      observer.info("readSnapshot waits up to 30 s for the lock of another read, which is not renewed"),
    goesOnLate: (begunAt) =>
      observer.warn(
        `readSnapshot goes on with a read that was begun at ${begunAt}: people of its first pages may have left since. ` +
          "Delete its .part file to begin afresh",
      ),
    progressFailed: (error) => observer.failed("onProgress", error),
  };
}
