// What contract 8 promises, and what it names under "What remains": told from requests, changes at the service and results.
import type { MockConsentChange } from "audience-sdk/mock";
import type { By } from "./plans.ts";

type Channel = MockConsentChange["channel"];

/** What a write says: its addresses, and its words by channel. */
export interface Words {
  readonly keys: readonly string[];
  readonly said: ReadonlyMap<Channel, string>;
}

/** Of the body of a request, or of the write that it is made of. */
export function wordsOf(contact: unknown, isAddContact: boolean): Words {
  // Safe: the world writes no other.
  const fields = Object(contact) as Fields;
  const said = new Map<Channel, string>();
  const keys: string[] = [];
  const name = (
    channel: "email" | "phone",
    address: string | undefined,
    word: string | undefined,
    unstated = "",
  ): void => {
    if (address === undefined) return;
    keys.push(`${channel}:${address}`);
    said.set(channel, word === undefined ? unstated : word.toUpperCase());
  };
  for (const { type, id, channels } of fields.identifiers ?? []) name(type, id, channels[type]?.status);
  name("email", fields.email, fields.email_opt_in, isAddContact ? "SUBSCRIBED" : "");
  name("phone", fields.phone, fields.phone_opt_in);
  if (fields.is_suppressed !== undefined) said.set("suppressed", String(fields.is_suppressed).toUpperCase());
  return { keys, said };
}

interface Fields {
  readonly email?: string;
  readonly email_opt_in?: string;
  readonly phone?: string;
  readonly phone_opt_in?: string;
  readonly is_suppressed?: boolean;
  readonly identifiers?: readonly V2Identifier[];
}

interface V2Identifier {
  readonly type: "email" | "phone";
  readonly id: string;
  readonly channels: Record<string, { status: string } | undefined>;
}

export function isRefusal(word: unknown): boolean {
  return /^(UNSUBSCRIBED|TRUE)$/.test(String(word).toUpperCase());
}

export function refusals({ said }: Words): Channel[] {
  return [...said].filter(([, word]) => isRefusal(word)).map(([channel]) => channel);
}

/** It says something, and nothing but refusals. */
export function refusesOnly(all: readonly Words[]): boolean {
  const spoken = all.filter(({ said }) => said.size > 0);
  return (
    spoken.length > 0 &&
    spoken.every(
      (one) =>
        refusals(one).length > 0 && [...one.said.values()].every((word) => word === "" || isRefusal(word)),
    )
  );
}

export function subscribes({ said }: Words): boolean {
  return said.get("email") === "SUBSCRIBED" || said.get("phone") === "SUBSCRIBED";
}

/** Who does something at the service. */
export interface Actor {
  readonly by: By | "row";
  readonly sentAt: number;
  readonly words: Words;
  /** The process. */
  readonly life: number;
  readonly row?: number;
}

/** By what a row finds its contact. */
export interface Known {
  /** The ids that the snapshot has, or else the recorded one; each possible choice, where a kill leaves it open. */
  readonly ids: readonly (readonly string[])[];
  /** What the snapshot shows as refused. */
  readonly refused: ReadonlySet<Channel>;
  /** Whether the ids are those of the snapshot. */
  readonly isInSnapshot: boolean;
}

interface Look {
  readonly at: number;
  /** The addresses that it shows. */
  readonly keys: readonly string[];
}

interface Refusal {
  readonly actor: Actor;
  readonly at: number;
  readonly keys: readonly string[];
}

/** The items of "What remains", and the two ends of what a row may do to a newer word. */
export const items = [
  "a click between look and write",
  "another process between look and write",
  "the row is on its way",
  "a channel that the service does not show",
  "a contact that the service does not show",
  "nothing is known",
  "the row ends a newer opt-in",
] as const;
type Item = (typeof items)[number] | "a newer word of this process";

export class Oracle {
  readonly wrongs: string[] = [];
  readonly reached = new Set<Item>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #opted = new Map<string, Actor>();
  /** Calls of the job's process, in this run or a killed life of it. */
  #calls: Actor[] = [];
  /** What those calls say, also where the process dies before the request leaves. */
  #begun: Words[] = [];
  /** What rows of this life refuse. */
  #ofRun: { readonly row: number; readonly words: Words }[] = [];
  /** What rows of this life were sent as, or kept on an earlier night: a later word of the service may lift it. */
  #keptByRun: { readonly row: number; readonly words: Words }[] = [];
  #looks = new Map<string, Look[]>();
  #due = new Map<string, Set<number>>();
  #lives = new Set<number>();
  readonly #service: { readonly showsAll: boolean; readonly hasV2Alone: boolean };

  constructor(service: { showsAll: boolean; hasV2Alone: boolean }) {
    this.#service = service;
  }

  begins(life: number, isNewRun: boolean): void {
    if (isNewRun) {
      this.#calls = [];
      this.#begun = [];
      this.#lives.clear();
    }
    this.#lives.add(life);
    this.#ofRun = [];
    this.#keptByRun = [];
    this.#looks = new Map();
    this.#due = new Map();
  }

  /** Between nights no run watches. */
  ends(life: number): void {
    if (this.#lives.has(life)) this.#calls = [];
    this.#lives.clear();
  }

  /** A call of a process begins. */
  begun({ by, life, words }: Pick<Actor, "by" | "life" | "words">): void {
    if (this.#isOfRun({ by, life })) this.#begun.push(words);
  }

  /** Its request leaves. */
  calls(actor: Actor): void {
    if (this.#isOfRun(actor)) this.#calls.push(actor);
  }

  #isOfRun({ by, life }: Pick<Actor, "by" | "life">): boolean {
    return (by === "job" || by === "web") && this.#lives.has(life);
  }

  looked(id: string, look: Look): void {
    this.#looks.set(id, [...(this.#looks.get(id) ?? []), look]);
  }

  /** A row was sent or skipped. */
  refused(row: number, all: readonly Words[]): void {
    for (const words of all) this.#ofRun.push({ row, words });
  }

  /** A row was sent with these words, or skipped with a refusal that was kept. */
  kept(row: number, all: readonly Words[]): void {
    for (const words of all) this.#keptByRun.push({ row, words });
  }

  /** Each row that says anything but refusals is looked up. */
  leaves(row: number, all: readonly Words[], { ids }: Known): void {
    const [sure] = ids;
    if (
      this.#service.hasV2Alone ||
      refusesOnly(all) ||
      ids.length > 1 ||
      all.every(({ said }) => said.size === 0)
    )
      return;
    for (const id of sure ?? []) {
      this.#due.set(id, (this.#due.get(id) ?? new Set()).add(row));
      if ((this.#looks.get(id)?.length ?? 0) < this.#due.get(id)!.size)
        this.#wrong(`row ${row} was not looked up`);
    }
  }

  changed(entry: MockConsentChange, isResubscription: boolean, { actor, known, at, row }: Change): void {
    const { channel, contactId, from, to } = entry;
    const consent = `${contactId} ${channel}`;
    const refusal = this.#refusals.get(consent);
    if (isRefusal(to)) {
      const keys = [...actor.words.keys, `email:${entry.email}`, `phone:${entry.phone}`];
      this.#refusals.set(consent, { actor, at, keys });
      const opted = this.#opted.get(consent);
      if (actor.by === "row" && isRefusal(row?.said.get(channel)) && opted && opted.by !== "row")
        this.reached.add("the row ends a newer opt-in");
      return;
    }
    this.#opted.set(consent, actor);
    if (actor.by !== "row" || !isResubscription || !isRefusal(from)) return;
    const item = this.#itemOf(entry, refusal!, { actor, known: known! });
    if (item) this.reached.add(item);
    else
      this.#wrong(
        `row ${actor.row} made ${channel} of ${entry.email ?? entry.phone} ${String(to)} at ${at}, which ${refusal!.actor.by} refused at ${refusal!.at}`,
      );
  }

  #itemOf(
    { channel, contactId }: MockConsentChange,
    refusal: Refusal,
    { actor, known }: { readonly actor: Actor; readonly known: Known },
  ): Item | undefined {
    const { at, actor: other } = refusal;
    const isShared = sharesAddress(channel, actor.words.keys, refusal.keys);
    if (at > actor.sentAt || other.sentAt > actor.sentAt) return "the row is on its way";
    const isOfRun =
      other.by === "row" && other.life === actor.life && isRefusal(other.words.said.get(channel));
    const isOfProcess = this.#calls.includes(other);
    // Of the service's word and the process's the newer counts; two contacts may have one number.
    const isNewer = ({ sentAt, words }: Actor) =>
      sentAt > at &&
      sentAt < actor.sentAt &&
      words.said.has(channel) &&
      !isRefusal(words.said.get(channel)) &&
      sharesAddress(channel, actor.words.keys, words.keys);
    if (this.#calls.some(isNewer)) return "a newer word of this process";
    if (
      (isOfProcess && isShared) ||
      this.#ofRun.some(({ row, words }) => row !== actor.row && isKnown(words, channel, actor.words))
    )
      return undefined;
    if (!this.#service.showsAll && channel !== "email") return "a channel that the service does not show";
    if (known.ids.some((ids) => ids.length === 0)) return "nothing is known";
    if (known.ids.some((ids) => !ids.includes(contactId)) || !isShared)
      return "a contact that the service does not show";
    // Without the v1 family nothing is looked up.
    if (this.#service.hasV2Alone)
      return known.refused.has(channel) ? undefined : "a contact that the service does not show";
    const look = this.#looks.get(contactId)?.findLast((each) => each.at < actor.sentAt);
    if (!look) return undefined;
    // Since the snapshot another write has given the contact another address.
    if (look.at >= at && known.isInSnapshot && !sharesAddress(channel, actor.words.keys, look.keys))
      return "a contact that the service does not show";
    if (look.at >= at) return undefined;
    if (other.by === "person") return "a click between look and write";
    return other.by === "process" || isOfRun || !isOfProcess
      ? "another process between look and write"
      : undefined;
  }

  /** Whether this process, or the run, refuses a channel of the row. */
  knows(by: "process" | "run", row: number, all: readonly Words[]): boolean {
    const refusing =
      by === "process"
        ? this.#begun
        : [...this.#ofRun, ...this.#keptByRun].filter((each) => each.row !== row).map(({ words }) => words);
    const isSaid = refusing.some((words) =>
      refusals(words).some((channel) => all.some((each) => isKnown(words, channel, each))),
    );
    return isSaid || (by === "process" && this.#isShown(all));
  }

  /** The response to a call shows further addresses of its contact. */
  #isShown(all: readonly Words[]): boolean {
    return [...this.#refusals].some(([consent, { actor, keys }]) => {
      // Safe: the key is an id and a channel.
      const channel = consent.split(" ")[1] as Channel;
      const shares = (each: Words) => each.said.size > 0 && sharesAddress(channel, each.keys, keys);
      return this.#calls.includes(actor) && all.some(shares);
    });
  }

  #wrong(problem: string): void {
    this.wrongs.push(problem);
  }
}

interface Change {
  readonly actor: Actor;
  readonly known?: Known | undefined;
  readonly at: number;
  /** The words of the row itself. */
  readonly row?: Words | undefined;
}

function isKnown(refusing: Words, channel: Channel, row: Words): boolean {
  return (
    isRefusal(refusing.said.get(channel)) &&
    row.said.size > 0 &&
    sharesAddress(channel, row.keys, refusing.keys)
  );
}

/** A word about e-mail counts for that address, one about phone for that number, a suppression for the person. */
function sharesAddress(channel: Channel, keys: readonly string[], others: readonly string[]): boolean {
  return keys.some(
    (key) => others.includes(key) && (channel === "suppressed" || key.startsWith(`${channel}:`)),
  );
}
