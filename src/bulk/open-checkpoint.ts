import { hasMethods } from "../is-object.ts";
import { ConfigurationError } from "../errors.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";

/**
 * The checkpoint, opened for one run. One that cannot keep a record is refused before a row is sent: without it the
 * next run would send again what this one did. Rejects with what `open` rejects with.
 */
export async function openCheckpoint(
  checkpoint: Checkpoint | undefined,
): Promise<OpenCheckpoint | undefined> {
  if (checkpoint === undefined) return undefined;
  const opened: unknown = await checkpoint.open();
  // True: it has just been found to be one.
  if (isOpen(opened)) return opened as OpenCheckpoint;
  throw new ConfigurationError("`open` of the checkpoint must give { id, stateOf, record, close }.");
}

// Whatever it is, it has been found to be an object before it is looked at.
function isOpen(opened: unknown): boolean {
  return (
    hasMethods(opened, "stateOf", "record", "close") && typeof (opened as { id: unknown }).id === "string"
  );
}
