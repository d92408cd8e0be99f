import type { RequestDetails, RequestRow } from "../page-view.ts";
import { action, type Child, clock, copy, h, json, overMark, pairs, part, span, tag } from "./elements.ts";
import type { Look } from "./items.ts";
import { read } from "./service.ts";

export const requests: Look<RequestRow> = {
  kind: "requests",
  keyOf: ({ number, at }) => `${number} ${at}`,
  head: (row) => [
    clock(row.at),
    span("status", statusOf(row)),
    span("operation", row.operation, row.person !== "" && span("person", row.person)),
    span("what", ...whatOf(row)),
    span("ms", row.durationMs === undefined ? "–" : `${row.durationMs} ms`),
  ],
  body: async ({ number }) => {
    const details = await read<RequestDetails>(`requests/${number}`);
    return details === undefined ? ["It is no longer kept."] : bodyOf(details);
  },
  empty: [
    "No request yet. Point a client here, or try:",
    h("code", {}, `curl -H 'X-API-Key: …' ${location.origin}/api/v1/contact-groups`),
  ],
};

function statusOf({ status, hasEnded, fault }: RequestRow): HTMLElement {
  if (status === undefined) return hasEnded ? tag("warn", "✗ lost") : tag("", "waits");
  if (fault !== undefined) return tag("warn", String(status));
  return tag(status < 400 ? "good" : "bad", String(status));
}

/** What became of it, in a line. */
function whatOf(row: RequestRow): Child[] {
  const { fault, applied, refusedFor, changes, isResubscription, attempt, person } = row;
  // The line has named the person already, and has the mark.
  const short = changes.map((change) => change.replace(`${person}: `, "").replace(" (resubscription)", ""));
  return [
    isResubscription && overMark(),
    attempt > 1 && tag("", `try ${attempt}`),
    fault !== undefined && tag("warn", fault),
    fault !== undefined && tag("", applied ? "applied" : "not applied"),
    refusedFor !== undefined && span("rule", refusedFor),
    short.length > 0 && span("sub", short.join(" · ")),
    applied && short.length === 0 && span("sub", "changed nothing"),
  ];
}

function bodyOf(details: RequestDetails): Child[] {
  const { body, headers, response, changes } = details;
  const address = `${details.method} ${details.path}${details.query && `?${details.query}`}`;
  return [
    h("div", { class: "two" }, part("Verdict", ...verdictOf(details)), changesOf(changes)),
    h(
      "div",
      { class: "two" },
      part("Sent", h("pre", { tabindex: "0" }, address), body !== undefined && json(body)),
      part(
        response && details.fault !== undefined ? "Response of the service, before the fault" : "Response",
        ...responseOf(response),
      ),
    ),
    h("div", { class: "headers" }, part("Headers", pairs(headers))),
    h(
      "div",
      { class: "actions" },
      action("Copy as curl", () => void copy(curlOf(details), "The curl command was")),
      body !== undefined &&
        action("Copy body", () => void copy(JSON.stringify(body, undefined, 2), "The body was")),
    ),
  ];
}

function responseOf(response: RequestDetails["response"]): Child[] {
  if (response === undefined) return ["None."];
  if (response === "forgotten") return ["No longer kept: the mock keeps those of the latest 500 requests."];
  const { status, headers, body = "" } = response;
  return [pairs([["status", String(status)], ...headers]), json(body)];
}

function changesOf(changes: readonly string[]): HTMLElement {
  const rows = changes.map((change) => h("li", {}, change));
  return part("Changed", rows.length === 0 ? "Nothing." : h("ul", {}, ...rows));
}

function verdictOf({ status, hasEnded, fault, applied, refusedFor, stances }: RequestDetails): Child[] {
  const silent = stances.map(({ variant, value }) =>
    h("p", {}, tag("warn", "stance of the mock"), ` The document is silent here: ${variant} is ${value}.`),
  );
  const end = hasEnded ? "The connection broke." : "It waits for its response.";
  return [
    h("p", {}, status === undefined ? end : `The response was ${status}.`),
    refusedFor !== undefined && h("p", {}, "Refused for ", span("rule", refusedFor)),
    fault !== undefined && h("p", {}, `The fault ${fault} affected it.`),
    h("p", {}, applied ? "It was applied." : "It was not applied."),
    ...silent,
  ];
}

/** Without the key: the command takes it from the environment of a client. */
function curlOf({ method, path, query, headers, body }: RequestDetails): string {
  const isV2 = path.includes("/v2/");
  const key = isV2
    ? `"Service-Api-Key: \${AUDIENCE_API_KEY_V2:-$AUDIENCE_API_KEY}"`
    : `"X-API-Key: $AUDIENCE_API_KEY"`;
  const kept = headers.filter(([name]) => name === "content-type" || name === "service-app-id");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return [
    `curl -X ${method} ${quoted(location.origin + path + (query && `?${query}`))}`,
    `-H ${key}`,
    ...kept.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(text)}`]),
  ].join(" \\\n  ");
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
