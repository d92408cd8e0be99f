import type { MockRequest } from "../public-types.ts";
import { describeChange, type StateChange } from "../state/changes.ts";

const LONGEST = 400;
/** The longest name of an operation. */
const OPERATION_WIDTH = 27;

/** One request that ended, as a line: time (UTC), operation, verdict, and what it changed or the rule that refused it. */
export function requestLine(entry: MockRequest, changes: readonly StateChange[]): string {
  const { operation, method, path, at } = entry;
  const parts = [
    at.slice(11, 23),
    (operation ?? `${method} ${path}`).padEnd(OPERATION_WIDTH),
    verdictOf(entry),
    changes.map(described).join("; "),
  ];
  return shown(parts.join("  ").trimEnd());
}

/** The contact is named once for all of its changes in a row. */
function described(change: StateChange, at: number, all: readonly StateChange[]): string {
  const text = describeChange(change);
  return all[at - 1]?.contact === change.contact ? text.slice(change.contact.length + 2) : text;
}

function verdictOf({ status, refusedFor, fault, applied, method }: MockRequest): string {
  const answer = status === undefined ? "---" : String(status);
  if (refusedFor !== undefined) return `${answer}  refused: ${refusedFor}`;
  if (fault === undefined) return answer;
  const effect = method === "GET" ? "" : `, ${applied ? "applied" : "not applied"}`;
  return `${answer}  fault ${fault}${effect}`;
}

/** What was sent may hold characters that steer a terminal, or turn the direction of text. */
function shown(line: string): string {
  const escaped = line.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return escaped.length > LONGEST ? `${escaped.slice(0, LONGEST)}…` : escaped;
}
