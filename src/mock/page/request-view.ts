import type { Reply } from "../mock-endpoint.ts";
import { namesIn } from "../names-in-body.ts";
import type { MockRequest } from "../public-types.ts";
import type { RequestRecord } from "../request-log.ts";
import { describeChange } from "../state/changes.ts";
import type { RequestDetails, RequestRow } from "./page-view.ts";

/** Headers whose values are not shown, in lower case. */
const SECRET = /key|authorization|cookie|token/;

/** The requests of one organization, and those of none; newest first. */
export function requestRows(
  records: readonly RequestRecord[],
  organization: string | undefined,
): RequestRow[] {
  const attempts = new Map<string, number>();
  const rows: RequestRow[] = [];
  for (const record of records) {
    const { entry } = record;
    const sent = JSON.stringify([entry.method, entry.path, entry.query, entry.body]);
    const attempt = (attempts.get(sent) ?? 0) + 1;
    // After a success the same request is a new one.
    attempts.set(sent, hasFailed(entry) ? attempt : 0);
    if ((record.organization ?? organization) === organization) rows.push(rowOf(record, attempt));
  }
  return rows.reverse();
}

function hasFailed({ status, fault }: MockRequest): boolean {
  return status === undefined || status >= 400 || fault !== undefined;
}

function rowOf({ number, entry, changes, hasEnded }: RequestRecord, attempt: number): RequestRow {
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
    isResubscription: changes.some((change) => change.kind === "consent" && change.isResubscription),
    attempt,
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** One request, opened; `undefined` for an unknown number. */
export function requestDetails(
  records: readonly RequestRecord[],
  number: number,
): RequestDetails | undefined {
  const record = records.find((each) => each.number === number);
  if (record === undefined) return undefined;
  const row = requestRows(records, record.organization).find((each) => each.number === number);
  const { method, path, query, headers, body } = record.entry;
  return {
    // Safe: the record is among the rows of its organization.
    ...row!,
    method,
    path,
    query: new URLSearchParams(query).toString(),
    headers: withoutKeys(headers),
    body,
    ...(record.reply && { response: responseOf(record.reply) }),
    stances: record.stances,
  };
}

function withoutKeys(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, SECRET.test(name) ? "(not shown)" : value]);
}

function responseOf({
  status,
  headers = {},
  body,
  plainText,
}: Reply): NonNullable<RequestDetails["response"]> {
  return { status, headers: Object.entries(headers), body: plainText ?? body };
}

/** The person that a request names, in whatever shape its body is. */
function personOf({ operation, path, body }: MockRequest): string {
  if (operation === "v1.customers.get") return path.slice(path.lastIndexOf("/") + 1);
  return namesIn(body)[0] ?? "";
}
