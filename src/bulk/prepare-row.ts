import { ValidationError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite } from "../prepare-write.ts";
import type { PreparedCall } from "../transport/call.ts";
import type { RowWrite } from "./guard.ts";
import { hasCode } from "./result.ts";

/** A write of a row that its endpoint has accepted. */
export interface PreparedWrite {
  readonly of: RowWrite;
  readonly call: PreparedCall;
}

/** Validates all writes of a row. Throws a `ValidationError` with all issues; in an array their paths begin with the index. */
export function prepareRow(
  opened: OpenedClient,
  writes: readonly RowWrite[],
  newEventId: (eventName: string) => string,
): PreparedWrite[] {
  const issues: ValidationError["issues"][number][] = [];
  const prepared: PreparedWrite[] = [];
  const seen = new Set<string>();
  for (const [index, of] of writes.entries()) {
    try {
      prepared.push({ of, call: prepareWrite(opened, of.write, { newEventId }) });
    } catch (error) {
      if (!hasCode(error, "validation")) throw error;
      // Safe: the class of the code.
      const found = (error as ValidationError).issues;
      issues.push(
        ...(writes.length === 1 ? found : found.map((each) => ({ ...each, path: [index, ...each.path] }))),
      );
    }
    if (index > 0 && !of.contacts.some((key) => seen.has(key))) issues.push({ path: [index], ...unrelated });
    for (const key of of.contacts) seen.add(key);
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return prepared;
}

const unrelated = {
  code: "unrelated",
  message: "must share an e-mail, a phone or a contactUUID with a write before it: a row is one person's",
};
