import { v1Limit, type Answers } from "./ask.ts";
import type { Finding, Shown } from "./finding.ts";
import { snapshotNeeds, v1PageSize } from "./learn-lists.ts";
import { learn, otherAttributes } from "./learn.ts";
import { keysOf } from "./shape.ts";

/** The report of the probe, in lines. */
export function reportLines(shown: Shown): string[] {
  const findings = Object.entries(learn(shown));
  const unknown = new Map<string, string[]>();
  for (const [name, finding] of findings)
    if ("unknown" in finding) unknown.set(finding.unknown, [...(unknown.get(finding.unknown) ?? []), name]);
  return [
    `Asked with ${shown.count} GETs${shown.written ? " and the writes of --write" : "; nothing was written"}.`,
    "",
    "What the account shows",
    ...factsOf(shown).map(([name, fact]) => `  ${name.padEnd(28)}${fact}`),
    "",
    "A mock like this account",
    "  createMockService({",
    "    variants: {",
    ...findings.flatMap(([name, finding]) => variantLine(name, finding)),
    "    },",
    "  });",
    "",
    "Options of the client",
    ...optionLines(shown),
    "",
    "Not shown: the mock keeps its defaults",
    ...[...unknown].map(([reason, names]) => `  ${names.join(", ")}: ${reason}`),
  ];
}

function variantLine(name: string, finding: Finding): string[] {
  if ("unknown" in finding) return [];
  if ("code" in finding) return [`      ${name}: ${finding.code},`];
  const note = finding.note === undefined ? "" : ` // ${finding.note}`;
  return [`      ${name}: ${JSON.stringify(finding.value) ?? "undefined"},${note}`];
}

function factsOf(shown: Shown): [name: string, fact: string][] {
  const { customers, groups, customer, group, unknownCustomer, lists, read } = shown;
  const bodies = { "list of contacts": customers, "list of contact groups": groups, "a contact": customer };
  const others = { "a contact group": group, "an error of v1": unknownCustomer, "list of v2 lists": lists };
  const attributes = otherAttributes(shown);
  const problems = [read.customers.problem, read.groups.problem].filter((problem) => problem !== undefined);
  return [
    ...Object.entries({ ...bodies, ...others }).map(([name, reply]): [string, string] => [
      name,
      typeof reply === "string" ? `not shown: ${reply}` : `${reply.status} ${keysOf(reply.body, 2)}`,
    ]),
    ["further attributes", attributes === undefined ? "not shown" : attributes.join(", ") || "none"],
    ["v1 page without a limit", sizeOf(v1PageSize(customers), 10)],
    [`v1 page with limit=${v1Limit}`, sizeOf(v1PageSize(groups), 100)],
    ["snapshots", snapshotNeeds(shown)],
    ["rate headers", rateHeadersOf(shown)],
    ["the client", problems.length === 0 ? "reads both v1 lists that it was given" : problems.join(" ")],
  ];
}

function sizeOf(size: number | undefined, documented: number): string {
  if (size === undefined) return "not shown";
  return size === documented ? `${size}, as documented` : `${size}; the document says ${documented}`;
}

function rateHeadersOf({ customers, groups, lists }: Answers): string {
  const found = new Map<string, string>();
  for (const reply of [customers, groups, lists])
    if (typeof reply !== "string")
      reply.headers.forEach((value, name) => {
        if (/rate-?limit|retry-after|quota/i.test(name)) found.set(name, value);
      });
  return [...found].map(([name, value]) => `${name}: ${value}`).join(", ") || "none";
}

function optionLines({ needsAppId, read, customers, groups }: Answers): string[] {
  const options = [
    ...(needsAppId
      ? ['headers: { "Service-App-Id": process.env.AUDIENCE_APP_ID }, // for v1 calls alone']
      : []),
    ...parsePageLines(read),
    ...edgeLines([customers, groups]),
  ];
  if (options.length === 0) return ["  none beyond addresses and keys"];
  return ["  new AudienceClient({", ...options.map((line) => `    ${line}`), "  });"];
}

/** One `parsePage` reads both lists, so it is written for both if the client cannot read one of them by itself. */
function parsePageLines({ customers, groups }: Answers["read"]): string[] {
  if (customers.problem === undefined && groups.problem === undefined) return [];
  const [first, second = first] = [customers, groups].flatMap(({ parsePage }) => parsePage?.code ?? []);
  if (first === undefined || second === undefined) return [];
  if (first === second) return [`parsePage: ${first},`];
  return [
    "parsePage: (body, { operation }) =>",
    `  operation === "v1.customers.list" ? (${first})(body) : (${second})(body),`,
  ];
}

/** A text with 403 or 503 is an edge's: it may be how the account refuses calls for their rate. */
function edgeLines(replies: readonly Answers["customers"][]): string[] {
  const edge = replies.find(
    (reply) =>
      typeof reply !== "string" &&
      [403, 503].includes(reply.status) &&
      typeof reply.body === "string" &&
      reply.body !== "",
  );
  if (edge === undefined || typeof edge === "string") return [];
  return [
    `// Only if a rate limit was behind the ${edge.status}:`,
    `isRateLimited: ({ status, body }) => status === ${edge.status} && typeof body === "string",`,
  ];
}
