import type { Reply } from "../mock-endpoint.ts";
import { namesIn } from "../names-in-body.ts";
import type { MockRequest } from "../public-types.ts";
import type { RequestRecord } from "../request-log.ts";
import { describeChange } from "../state/changes.ts";
import type { RequestDetails, RequestRow, ResponseDetails } from "./page-view.ts";
import { type Found, type Matches, newest } from "./search.ts";

/** Headers whose values are not shown, in lower case. */
const SECRET = /key|authorization|cookie|token/;

/** More than of others: they are what one looks at. */
const SHOWN = 500;

/** The latest requests that were found. */
export function requestRows(
  records: readonly RequestRecord[],
  isAskedFor: (record: RequestRecord) => boolean,
  matches: Matches,
): Found<RequestRow> {
  const shownOf = (record: RequestRecord): unknown => {
    const { operation, person, status, fault, refusedFor, changes } = rowOf(record);
    return [operation, person, status, fault, refusedFor, changes];
  };
  const isFound = (record: RequestRecord) => isAskedFor(record) && matches(() => shownOf(record));
  return newest(records, isFound, rowOf, SHOWN);
}

/** Whether one of its changes went over a refusal. */
export function isResubscription({ changes }: RequestRecord): boolean {
  return changes.some((change) => change.kind === "consent" && change.isResubscription);
}

function rowOf(record: RequestRecord): RequestRow {
  const { number, entry, changes, hasEnded, attempt } = record;
  const { at, operation, method, path, status, applied, fault, refusedFor, durationMs } = entry;
  return {
    number,
    at,
    operation: operation ?? `${method} ${path}`,
    person: personOf(entry),
    ...(status !== undefined && { status }),
    hasEnded,
    applied,
    ...(fault !== undefined && { fault }),
    ...(refusedFor !== undefined && { refusedFor }),
    changes: changes.map(describeChange),
    isResubscription: isResubscription(record),
    attempt,
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** One request, opened; `undefined` for an unknown number. */
export function requestDetails(
  records: readonly RequestRecord[],
  number: number,
): RequestDetails | undefined {
  const record = records[number - 1];
  if (record === undefined) return undefined;
  const { method, path, query, headers, body } = record.entry;
  return {
    ...rowOf(record),
    method,
    path,
    query: new URLSearchParams(query).toString(),
    headers: withoutKeys(headers),
    body,
    ...(record.reply && { response: record.reply === "forgotten" ? record.reply : responseOf(record.reply) }),
    stances: record.stances,
  };
}

function withoutKeys(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, SECRET.test(name) ? "(not shown)" : value]);
}

function responseOf({ status, headers = {}, body, plainText }: Reply): ResponseDetails {
  return { status, headers: Object.entries(headers), body: plainText ?? body };
}

/** The person that a request names, in whatever shape its body is. */
function personOf({ operation, path, body }: MockRequest): string {
  if (operation === "v1.customers.get") return path.slice(path.lastIndexOf("/") + 1);
  return namesIn(body)[0] ?? "";
}
