// What a row says of consent, and since when it says so.
import { type ConsentWrite, decidedByService } from "../consent.ts";

/** What a row says of one channel of a contact. The status is empty if the row leaves the channel to the service. */
export interface Statement {
  /** Tells the contacts of one row apart; too short to tell whose it is. */
  readonly contact: string;
  readonly channel: string;
  readonly status: string;
}

/** A statement with a status, and the position in the journal since which the row makes it. */
export interface Decision extends Statement {
  readonly since: number;
  /** Whether the person was asked to confirm it. */
  readonly isToBeConfirmed: boolean;
  /** Whether a write with it was applied, or may have been. */
  readonly isSent: boolean;
  /** The row's status before it, which the service shows until this one is applied; empty once that is certain. */
  readonly replaces: string;
}

/** What became of the writes of a row so far: `unknown` ones may have been applied. */
export type StatedWrites = ReadonlyMap<ConsentWrite, "applied" | "unknown" | "unsent">;

/** A row whose contact changes every night must not grow its record without end. */
const mostOthers = 16;

/** Whether a status keeps messages away. */
export function isRefusal(status: string): boolean {
  return status === "UNSUBSCRIBED" || status === "TRUE";
}

/** Whether a write keeps messages away in every channel that it names. */
export function isOptOut(write: ConsentWrite): boolean {
  const statements = statementsOf(write);
  return statements.length > 0 && statements.every(({ status }) => isRefusal(status));
}

/** Whether a status is stricter than that of a row. What is not known may be a refusal, and of a row an opt-in. */
export function isStricter(status: string, ofRow = ""): boolean {
  return strictness(status, 2) > strictness(ofRow, 0);
}

function strictness(status: string, ofOthers: number): number {
  if (isRefusal(status)) return 2;
  if (status === "NON_SUBSCRIBED") return 1;
  return status === "SUBSCRIBED" || status === "FALSE" ? 0 : ofOthers;
}

/** Tells a write's contact from others of its row. */
export function tagOf([key = ""]: readonly string[]): string {
  let hash = 0;
  for (const char of key) hash = (hash * 31 + char.codePointAt(0)!) % 2_147_483_647;
  return hash.toString(36);
}

/** A statement of each channel that the write gives a status, or by which it names the contact. */
export function statementsOf({ contacts, consent }: ConsentWrite): Statement[] {
  const contact = tagOf(contacts);
  const named = ["email", "phone"].filter((channel) => contacts.some((key) => key.startsWith(`${channel}:`)));
  const statuses = { ...Object.fromEntries(named.map((channel) => [channel, ""])), ...consent };
  return Object.entries(statuses).map(([channel, status]) => ({
    contact,
    channel,
    status: status === decidedByService ? "" : status,
  }));
}

/** The earlier decision that a statement repeats: about its contact, or about any if the row never spoke of it. */
export function repeated(
  decisions: readonly Decision[],
  { contact, channel, status }: Statement,
): Decision | undefined {
  const own = decisions.filter((each) => each.contact === contact);
  const about = own.length > 0 ? own : decisions;
  return about.find((each) => each.channel === channel && each.status === status);
}

/**
 * The decisions of a row that now says this. A repeated one keeps its position, a new one has that of `newSince`; a
 * channel that the row no longer names, or leaves to the service, keeps its earlier ones: that is no new decision.
 */
export function decide(
  before: readonly Decision[],
  writes: StatedWrites,
  newSince: (statement: Statement) => number,
): Decision[] {
  const decided = new Map<string, Decision>();
  for (const [write, outcome] of writes) {
    const { isToBeConfirmed } = write;
    for (const statement of statementsOf(write).filter(({ status }) => status !== "")) {
      const name = JSON.stringify(statement);
      const old = decided.get(name) ?? repeated(before, statement);
      const since = old?.since ?? newSince(statement);
      const isSent = outcome !== "unsent" || old?.isSent === true;
      const replaces = outcome === "applied" ? "" : (old?.replaces ?? lastSent(before, statement));
      decided.set(name, { ...statement, since, isToBeConfirmed, isSent, replaces });
    }
  }
  const now = [...decided.values()];
  const others = before.filter((old) => !now.some((each) => isOfSameChannel(each, old)));
  const spokenOf = new Set([...writes.keys()].map(({ contacts }) => tagOf(contacts)));
  const older = others.filter(({ contact }) => !spokenOf.has(contact)).slice(-mostOthers);
  return [...older, ...others.filter(({ contact }) => spokenOf.has(contact)), ...now];
}

/** The status that the row last sent of the statement's channel; empty if it sent none. */
export function lastSent(before: readonly Decision[], statement: Statement): string {
  const last = before.find((each) => isOfSameChannel(each, statement));
  return last?.isSent ? last.status : (last?.replaces ?? "");
}

function isOfSameChannel(a: Statement, b: Statement): boolean {
  return a.contact === b.contact && a.channel === b.channel;
}

/** The contacts that a row speaks of: its decisions, and the ids of the contacts that responses gave, by their tags. */
export interface SpokenContacts {
  readonly decisions: readonly Decision[];
  /** An id is empty if the response to the contact's write gave none. */
  readonly ids: ReadonlyMap<string, string>;
  /** Of contacts that it no longer has, as its address has changed. */
  readonly formerIds: ReadonlyMap<string, string>;
}

/** The id of a contact with this tag; empty if a response gave none, undefined if there was no response. */
export function idOf({ ids, formerIds }: SpokenContacts, tag: string): string | undefined {
  return ids.get(tag) ?? formerIds.get(tag);
}

/** The ids after a night whose responses gave these, and whose writes had contacts with these tags. */
export function knownIds(
  before: Pick<SpokenContacts, "ids" | "formerIds">,
  given: ReadonlyMap<string, string>,
  written: ReadonlySet<string>,
): Pick<SpokenContacts, "ids" | "formerIds"> {
  const hasNew = [...given.keys()].some((tag) => !before.ids.has(tag));
  const kept = [...before.ids].filter(([tag]) => !hasNew || written.has(tag));
  const ids = new Map([...kept, ...given].filter(([tag, id]) => id !== "" || !before.ids.get(tag)));
  const former = [...before.formerIds, ...before.ids].filter(([tag, id]) => id !== "" && !ids.has(tag));
  return { ids, formerIds: new Map(former.slice(-mostOthers)) };
}

// In the journal and in memory they are one string, as 100,000 rows have theirs in memory. Each contact has its tag, its
// id (with an `@` if the row no longer has it) and its decisions, each with its position. Then comes a `?` if the person
// was asked to confirm, a `-` if it was not sent, and a `!` with the status that it replaces, until it is applied:
// `k3f=4711;email=SUBSCRIBED@12;phone=SUBSCRIBED@12-!UNSUBSCRIBED`.

/** In place of an id: the response gave none. No encoded id has this sign. */
const none = ",";

export function encodeContacts({ decisions, ids, formerIds }: SpokenContacts): string {
  const tags = new Set([...decisions.map(({ contact }) => contact), ...formerIds.keys(), ...ids.keys()]);
  const contacts = [...tags].map((tag) => {
    const own = decisions.filter(({ contact }) => contact === tag).map(encodeDecision);
    const id = ids.get(tag) ?? formerIds.get(tag);
    const encoded = id === "" ? none : encode(id ?? "");
    return [`${tag}=${encoded}${formerIds.has(tag) ? "@" : ""}`, ...own].join(";");
  });
  return contacts.join(" ");
}

function encodeDecision({ channel, status, since, isToBeConfirmed, isSent, replaces }: Decision): string {
  const before = isSent && replaces === "" ? "" : `!${encode(replaces)}`;
  const marks = (isToBeConfirmed ? "?" : "") + (isSent ? "" : "-") + before;
  return `${encode(channel)}=${encode(status)}@${since}${marks}`;
}

/** Half a character, which any text may hold, cannot be encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD"));
}

export function decodeContacts(text: string): SpokenContacts {
  const decisions: Decision[] = [];
  const [ids, formerIds] = [new Map<string, string>(), new Map<string, string>()];
  for (const contact of text === "" ? [] : text.split(" ")) {
    const [first = "", ...rest] = contact.split(";");
    const [tag = "", encoded = ""] = first.split("=");
    const [id = "", former] = encoded.split("@");
    if (id === none) ids.set(tag, "");
    else if (id !== "") (former === undefined ? ids : formerIds).set(tag, decodeURIComponent(id));
    for (const each of rest) decisions.push(decodeDecision(tag, each));
  }
  return { decisions, ids, formerIds };
}

function decodeDecision(contact: string, text: string): Decision {
  const [channel = "", status = "", position = ""] = text.split(/[=@]/);
  const [since = "", replaces = ""] = position.split("!");
  return {
    contact,
    channel: decodeURIComponent(channel),
    status: decodeURIComponent(status),
    since: Number.parseInt(since, 10),
    isToBeConfirmed: since.includes("?"),
    isSent: !since.endsWith("-"),
    replaces: decodeURIComponent(replaces),
  };
}
