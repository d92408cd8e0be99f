import { ConfigurationError } from "../errors.ts";
import { readGuarded } from "../option-checks.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";
import { isObject } from "../is-object.ts";

/**
 * The checkpoint, opened for one run. One that cannot keep a record is refused before a row is sent: without it the
 * next run would send again what this one did. Rejects with what `open` rejects with.
 */
export async function openCheckpoint(
  checkpoint: Checkpoint | undefined,
): Promise<OpenCheckpoint | undefined> {
  if (checkpoint === undefined) return undefined;
  const opened: unknown = await checkpoint.open();
  const isWhole = readGuarded("The opened checkpoint", () => isOpen(opened));
  // True: it has just been found to be one.
  if (isWhole) return opened as OpenCheckpoint;
  throw new ConfigurationError(
    "`open` of the checkpoint must give { id, stateOf, record, close }: see Checkpoint.",
  );
}

function isOpen(opened: unknown): boolean {
  if (!isObject(opened)) return false;
  const isMethod = (name: string) => typeof Reflect.get(opened, name) === "function";
  return typeof Reflect.get(opened, "id") === "string" && ["stateOf", "record", "close"].every(isMethod);
}
