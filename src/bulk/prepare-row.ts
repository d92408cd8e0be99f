import { ValidationError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite } from "../prepare-write.ts";
import type { PreparedCall } from "../transport/call.ts";
import { type RowWrite, saysOnlyRefusals } from "./refusals.ts";
import { isInvalid } from "./result.ts";

/**
 * Validates all writes of a row, and gives their calls. Throws a `ValidationError` with all issues; in an array their paths
 * begin with the index.
 */
export function prepareRow(
  opened: OpenedClient,
  writes: readonly RowWrite[],
  newEventId: (eventName: string) => string,
): PreparedCall[] {
  const issues: ValidationError["issues"][number][] = [];
  const calls: PreparedCall[] = [];
  const named = new Set<string>();
  for (const [index, { contacts, write }] of writes.entries()) {
    try {
      calls.push(prepareWrite(opened, write, newEventId));
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const found = error.issues;
      const inArray = found.map((each) => ({ ...each, path: [index, ...each.path] }));
      issues.push(...(writes.length === 1 ? found : inArray));
    }
    if (index > 0 && !contacts.some((key) => named.has(key)))
      issues.push({ path: [index], code: "unrelated", message: unrelated });
    for (const key of contacts) named.add(key);
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return calls;
}

const unrelated =
  "must share an e-mail, a phone or a contactUUID with a write before it: a row is one person's";

/** Whether a row in doubt may be sent again. */
export function mayBeRepeated(writes: readonly RowWrite[], calls: readonly PreparedCall[]): boolean {
  return writes.every(({ said }, index) => calls[index]!.isRepeatable || saysOnlyRefusals(said));
}
