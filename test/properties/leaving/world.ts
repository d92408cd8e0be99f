import type { BulkOptions, BulkResult, Write } from "audience-sdk";
import { createMockService, type MockContact, type MockService } from "audience-sdk/mock";
import { MemoryCheckpoint } from "../../bulk/memory-checkpoint.ts";
import { forgetConsents } from "../../chaos/process.ts";
import {
  type Actor,
  isRefusal,
  type Known,
  Oracle,
  refusals,
  refusesOnly,
  subscribes,
  type Words,
  wordsOf,
} from "./oracle.ts";
import {
  type Act,
  actWrite,
  emailOf,
  type Night,
  type Plan,
  people,
  phoneOf,
  rowWrites,
  type RowPlan,
} from "./plans.ts";
import { type Job, Process, type Travel } from "./process.ts";

export interface Row {
  readonly index: number;
  readonly plan: RowPlan;
  readonly writes: readonly Write[];
  readonly words: readonly Words[];
}

type Result = BulkResult<Row, unknown>;
type Snapshot = NonNullable<BulkOptions<Row>["snapshot"]>;

const nobodysRow = -1;

interface Sent {
  /** A request that may have been carried out, and one that subscribes. */
  wasDone: boolean;
  hasSubscribed: boolean;
  id: string | undefined;
}

/** Plays a plan: one service, one process after the other, and beside it another one. */
export class World {
  readonly mock: MockService;
  readonly oracle: Oracle;
  readonly results: Result[] = [];
  at = 0;
  readonly #plan: Plan;
  readonly #table: RowPlan[];
  #checkpoint = new MemoryCheckpoint();
  #process!: Process;
  #lives = 0;
  /** By row: the ids that may be recorded. */
  readonly #ids = new Map<number, Set<string | undefined>>();
  readonly #forgotten = new Set<string>();
  /** What the night knows. */
  #rows: readonly Row[] = [];
  #snapshots: (MockContact[] | undefined)[] = [];
  #snapshot: readonly MockContact[] | undefined;
  #sent = new Map<number, Sent>();
  #waiting: Act[] = [];
  #acting: Promise<void>[] = [];
  /** The service answers one request after the other, so that each change has its request. */
  #service: Promise<unknown> = Promise.resolve();

  constructor(given: Plan) {
    this.#plan = given;
    this.#table = [...given.table];
    this.oracle = new Oracle(given);
    this.mock = createMockService({
      organizations: [
        {
          id: "acme",
          apiKeys: ["mock-key-of-job", "mock-key-of-process"],
          appId: "app",
          lists: [{ id: "list", name: "List" }],
        },
      ],
      variants: given.showsAll ? {} : { profileAttributes: "documented" },
    });
  }

  async play(): Promise<void> {
    let isOver = true;
    for (const each of this.#plan.nights) {
      forgetConsents();
      this.#process = new Process(this, each.dyingAt, this.#plan, (this.#lives += 1));
      const early = each.acts.filter(({ after }) => after === "before");
      for (const act of early) await this.#act(act);
      for (const [index, row] of each.changes.entries())
        if (row && this.#table[index]) this.#table[index] = row;
      isOver = await this.#playNight(each, isOver);
    }
  }

  get contacts(): MockContact[] {
    return this.mock.organization("acme").contacts;
  }

  /** Returns whether the run has ended by itself. */
  async #playNight(night: Night, isNewRun: boolean): Promise<boolean> {
    const process = this.#process;
    if (night.fault) this.mock.addFault(night.fault);
    this.#rows = this.#table.flatMap((plan, index) => (plan.isAbsent ? [] : [this.#rowOf(plan, index)]));
    this.#snapshots.push(structuredClone(this.contacts));
    this.#snapshot = night.snapshot && this.#snapshots.at(night.snapshot === "new" ? -1 : -2);
    this.#sent = new Map();
    this.#waiting = night.acts.filter(({ after }) => after !== "before");
    this.#acting = [];
    this.oracle.begins(process.life, isNewRun);
    process.isRunning = true;
    const inOrder = this.#rows;
    const run = process.job.bulk(
      night.isStream
        ? (function* () {
            yield* inOrder;
          })()
        : inOrder,
      ({ writes }) => [...writes],
      {
        key: ({ index }) => `row-${index}`,
        checkpoint: this.#checkpoint,
        concurrency: this.#plan.concurrency,
        organization: "acme",
        stopWhen: () => false,
        ...(this.#plan.hasIsCurrent && { isCurrent: ({ plan }: Row) => !plan.isOutdated }),
        ...(this.#snapshot && { snapshot: snapshotOf(this.#snapshot) }),
      },
    );
    const atMost = new Map(this.#rows.map((row) => [row.index, this.#known(row)]));
    const ended = (async () => {
      for await (const result of run) {
        // A dead process tells nothing.
        if (process.isDead) return false;
        this.#ended(result);
      }
      return true;
    })();
    const isOver = await Promise.race([ended, process.died.then(() => false)]);
    if (isOver) {
      await Promise.race([Promise.all(this.#acting), process.died]);
      this.oracle.ends(process.life);
      this.#checkWarning(process.warnings, atMost);
    } else {
      this.#checkpoint = this.#checkpoint.copy();
      process.close();
      // A success may be recorded of which nobody has heard.
      for (const [index, { id }] of this.#sent) if (id !== undefined) this.#idsOf(index).add(id);
      // It may have died just after its run was recorded as over: the next one is another run.
      if (this.#checkpoint.entries.get("run")?.includes('"isOver":true')) {
        this.oracle.ends(process.life);
        return true;
      }
    }
    return isOver;
  }

  #rowOf(plan: RowPlan, index: number): Row {
    const writes = rowWrites(plan, index, this.#plan);
    return { index, plan, writes, words: writes.map(wordsOfWrite) };
  }

  #idsOf(index: number): Set<string | undefined> {
    const ids = this.#ids.get(index) ?? new Set([undefined]);
    this.#ids.set(index, ids);
    return ids;
  }

  /** By which ids a row is looked up, by the contract. */
  #known({ index, words }: Row): Known {
    const keys = words.filter(({ said }) => said.size > 0).flatMap((each) => each.keys);
    const emails = keys.filter((key) => key.startsWith("email:"));
    const find = (wanted: readonly string[]) => withKeys(this.#snapshot ?? [], wanted);
    const byEmail = find(emails);
    const hasId = emails.length > 0 && !this.#idsOf(index).has(undefined);
    const shown = byEmail.length > 0 || hasId ? byEmail : find(keys);
    const refused = new Set(
      shown.flatMap(({ email_opt_in, phone_opt_in, is_suppressed }) => [
        ...(isRefusal(email_opt_in) ? (["email"] as const) : []),
        ...(isRefusal(phone_opt_in) ? (["phone"] as const) : []),
        ...(is_suppressed ? (["suppressed"] as const) : []),
      ]),
    );
    if (shown.length > 0) {
      // A kill may have left an id, which goes before the one of the phone.
      const recorded = byEmail.length > 0 || emails.length === 0 ? [] : [...this.#idsOf(index)];
      const left = recorded.flatMap((id) => (id === undefined ? [] : [[id]]));
      return { refused, isInSnapshot: true, ids: [shown.map(({ id }) => id), ...left] };
    }
    return {
      refused,
      isInSnapshot: false,
      ids: [...this.#idsOf(index)].map((id) => (id === undefined ? [] : [id])),
    };
  }

  #ended(result: Result): void {
    const { index, words, plan } = result.item;
    const { status } = result;
    const wrong = (problem: string) => this.oracle.wrongs.push(`row ${index} ${problem}`);
    this.results.push(result);
    const sent = this.#sent.get(index);
    // A row in doubt may have been sent by a run before.
    if (status === "skipped" || status === "unknown") this.oracle.refused(index, words);
    if (status === "skipped")
      this.oracle.kept(
        index,
        words.map(({ keys }) => ({ keys, said: saidOf(result.kept) })),
      );
    if (sent?.wasDone && sent.id !== undefined) this.#ids.set(index, new Set([sent.id]));
    const isOutdated = this.#plan.hasIsCurrent && plan.isOutdated;
    if (isOutdated && sent) wrong("was sent, and is not current");
    if (status !== "superseded") return;
    if (refusesOnly(words) && result.reason !== "not-current")
      wrong(`says nothing but refusals, and is superseded by ${result.reason}`);
    if (!this.#hasReason(result, isOutdated)) wrong(`is superseded by ${result.reason} without a reason`);
  }

  #hasReason({ item, reason, service }: Result & { status: "superseded" }, isOutdated: boolean): boolean {
    const { index, words } = item;
    const consents = (contact: object | undefined) => Object.values(contact ?? {}).some(isRefusal);
    switch (reason) {
      case "not-current":
        return isOutdated;
      // Nobody can be looked up, or the look shows nothing of the channel.
      case "snapshot": {
        const ids = this.#known(item).ids.flat();
        const numbers = words.flatMap(({ keys }) => keys.filter((key) => key.startsWith("phone:")));
        return (
          ids.some((id) => consents(this.#snapshot?.find((each) => each.id === id))) ||
          withKeys(this.#snapshot ?? [], numbers).some(({ phone_opt_in }) => isRefusal(phone_opt_in))
        );
      }
      case "service":
        return service
          ? consents(service.attributes)
          : this.#known(item)
              .ids.flat()
              .some((id) => this.#forgotten.has(id));
      default:
        return this.oracle.knows(reason, index, words);
    }
  }

  /** As many as the run says. */
  #checkWarning(warnings: readonly string[], before: ReadonlyMap<number, Known>): void {
    const said = warnings.flatMap(
      (line) => /rows that subscribed somebody of whom nothing was known.*: (\d+)/.exec(line)?.[1] ?? [],
    );
    const unknown = this.#rows.filter(({ index }) => {
      const sent = this.#sent.get(index);
      return sent?.wasDone && sent.hasSubscribed;
    });
    // The id may be that of the contact that the row leaves behind.
    const formerIds = new Map(this.results.map(({ formerId, item }) => [item, formerId]));
    const isKnown = (row: Row) =>
      before.get(row.index)!.ids.map((ids) => ids.some((id) => id !== formerIds.get(row)));
    // By the id of a skipped row that kept a refusal.
    const skipped = this.results.filter(({ kept, status }) => status === "skipped" && kept);
    const keptKeys = new Set(skipped.flatMap(({ item }) => item.words.flatMap(({ keys }) => keys)));
    const mayBeLookedUp = ({ words }: Row) => words.some(({ keys }) => keys.some((key) => keptKeys.has(key)));
    const least = unknown.filter((row) => !mayBeLookedUp(row) && isKnown(row).every((each) => !each)).length;
    const most = unknown.filter((row) => isKnown(row).some((each) => !each)).length;
    const count = Number(said[0] ?? 0);
    if (said.length > 1 || count < least || count > most)
      this.oracle.wrongs.push(
        `${least} to ${most} rows are of unknown people, and it says ${said.join(", ")}`,
      );
  }

  /** The acts begin whose time has come. */
  reaches(moment: "look" | "row" | number, about: Partial<Act> = {}): void {
    if (this.#process.isDead) return;
    const isDue = ({ after }: Act) =>
      typeof after === "number" && typeof moment === "number" ? after <= moment : after === moment;
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((each) => !due.includes(each));
    this.#acting.push(...due.map((act) => this.#act({ ...act, ...about })));
  }

  async #act(act: Act): Promise<void> {
    const { by, does, hasMoved, person } = act;
    const [email, phone] = [emailOf(person, hasMoved), phoneOf(person, this.#plan)];
    const process = this.#process;
    try {
      if (does === "is forgotten") {
        const gone = this.contacts.find((contact) => contact.email === email);
        if (gone) this.#forgotten.add(gone.id);
        return;
      }
      const words: Words = { keys: [], said: new Map() };
      const acts = (work: () => void) =>
        this.serve(async () => work(), {
          actor: { by: "person", sentAt: this.at, words, life: process.life },
        });
      if (does === "returns") await acts(() => this.mock.asksAgain(email));
      if (by === "person" && does === "leaves")
        await acts(() => this.mock.unsubscribe(email, { channel: "email" }));
      else if (by === "person" && does === "stops SMS")
        await acts(() => this.mock.unsubscribe(phone, { channel: "phone" }));
      else {
        const made = actWrite(act, this.#plan);
        this.oracle.begun({ by, life: process.life, words: wordsOfWrite(made) });
        await process.clients[by === "person" ? "process" : by].send(made);
      }
    } catch {
      // The service does not know the person yet, or a fault.
    }
  }

  /** Lets the service do something, alone, and judges each change of a consent. */
  serve<T>(work: () => Promise<T>, change: { actor: Actor; row?: Row | undefined }): Promise<T> {
    const result = this.#service.then(async () => {
      const { consentHistory } = this.mock.organization("acme");
      const { length } = consentHistory;
      const raised = this.mock.resubscriptions.length;
      this.at += 1;
      try {
        return await work();
      } finally {
        // Also of a write whose response is lost.
        const resubscriptions = new Set(
          this.mock.resubscriptions.slice(raised).map((each) => JSON.stringify(each)),
        );
        const known = change.row && this.#known(change.row);
        for (const entry of this.mock.organization("acme").consentHistory.slice(length))
          this.oracle.changed(entry, resubscriptions.has(JSON.stringify(entry)), {
            ...change,
            known,
            at: this.at,
            row: change.row && together(change.row.words),
          });
      }
    });
    this.#service = result.catch(() => undefined);
    return result;
  }

  /** A request of a process. */
  async request(url: string, init: RequestInit, by: Job, { life, isDead, dies }: Travel): Promise<Response> {
    if (isDead()) return await new Promise<never>(() => {});
    const index = new Headers(init.headers).get("x-row");
    const row = index === null ? undefined : this.#rows.find((each) => each.index === Number(index));
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const isAddContact = url.includes("/contact-groups/");
    const words =
      init.method === "POST" && !url.endsWith("/events")
        ? wordsOf(body, isAddContact)
        : { keys: [], said: new Map() };
    const actor: Actor = {
      by: row ? "row" : by,
      sentAt: (this.at += 1),
      words,
      life,
      ...(row && { row: row.index }),
    };
    if (row) this.#leaves(row, words);
    if (row) this.reaches("row", { person: row.index % people, hasMoved: row.plan.hasMoved });
    else if (init.method === "POST") this.oracle.calls(actor);
    await dies(0);
    if (isDead()) return await new Promise<never>(() => {});
    const id = init.method === "GET" ? decodeURIComponent(url.split("/").at(-1)!) : undefined;
    if (id !== undefined && this.#forgotten.has(id)) {
      this.oracle.looked(id, { at: this.at, keys: [] });
      return Response.json({ message: "gone" }, { status: 404 });
    }
    const response = await this.serve(
      async () => {
        const answer = await this.mock.fetch(url, init);
        if (id !== undefined) this.oracle.looked(id, { at: this.at, keys: this.#addressesOf(id) });
        if (id !== undefined) this.oracle.kept(nobodysRow, [this.#shownOf(id)]);
        if (row && answer.ok) this.#hasArrived(row, words);
        return answer;
      },
      { actor, row },
    ).catch((error: unknown) => {
      if (row) this.#mayBeDone(row);
      throw error;
    });
    const looked = id !== undefined && this.contacts.find((contact) => contact.id === id)?.email;
    if (looked) this.reaches("look", { person: Number(/\d/.exec(looked)), hasMoved: looked.includes("new") });
    if (row) await this.#arrived(row, words, response.clone());
    await dies(1);
    if (isDead()) return await new Promise<never>(() => {});
    return response;
  }

  /** What a look shows counts for the later rows of the run. */
  #shownOf(id: string): Words {
    const { email_opt_in = "", phone_opt_in = "" } = this.contacts.find((contact) => contact.id === id) ?? {};
    const said = new Map([["email", email_opt_in] as const, ["phone", phone_opt_in] as const]);
    return { keys: this.#addressesOf(id), said };
  }

  #addressesOf(id: string): string[] {
    const { email, phone } = this.contacts.find((contact) => contact.id === id) ?? {};
    return [...(email ? [`email:${email}`] : []), ...(phone ? [`phone:${phone}`] : [])];
  }

  #sentBy({ index }: Row): Sent {
    const sent = this.#sent.get(index) ?? { wasDone: false, hasSubscribed: false, id: undefined };
    this.#sent.set(index, sent);
    return sent;
  }

  #mayBeDone(row: Row): void {
    this.#sentBy(row).wasDone = true;
    this.oracle.refused(row.index, row.words);
  }

  /** A row's request leaves the client: of the row's words only refusals are sure. */
  #leaves(row: Row, words: Words): void {
    this.#sentBy(row).hasSubscribed ||= subscribes(words);
    this.oracle.kept(row.index, [...row.words, words]);
    this.oracle.leaves(row.index, row.words, this.#known(row));
    const asGiven = row.words.find(
      ({ keys, said }) => said.size > 0 && keys.join(" ") === words.keys.join(" "),
    );
    for (const channel of asGiven ? refusals(asGiven) : [])
      if (words.said.has(channel) && !isRefusal(words.said.get(channel)))
        this.oracle.wrongs.push(`row ${row.index} lost its opt-out of ${channel}`);
  }

  /** Before anybody else changes it. */
  #hasArrived(row: Row, words: Words): void {
    for (const channel of refusals(words)) {
      const shown = withKeys(
        this.contacts,
        words.keys.filter((key) => key.startsWith(`${channel}:`)),
      );
      if (channel !== "suppressed" && !shown.some((each) => each[`${channel}_opt_in`] === "UNSUBSCRIBED"))
        this.oracle.wrongs.push(`the opt-out of ${channel} of row ${row.index} was lost`);
    }
  }

  async #arrived(row: Row, words: Words, response: Response): Promise<void> {
    const { status } = response;
    if (status < 300 || status >= 500) this.#mayBeDone(row);
    if (status >= 300) return;
    const sent = this.#sentBy(row);
    const { data, contact } = (await response.json()) as {
      data?: { id: string };
      contact?: { contactUUID: string };
    };
    sent.id = data?.id ?? contact?.contactUUID ?? sent.id;
    // The response shows further addresses of the contact.
    const keys = [...words.keys, ...(sent.id === undefined ? [] : this.#addressesOf(sent.id))];
    this.oracle.kept(row.index, [{ keys, said: words.said }]);
  }
}

function saidOf(kept: Result["kept"]): Words["said"] {
  const channels = Object.keys(kept ?? {});
  // Safe: the world has no other channels.
  return new Map(
    channels.map((channel) =>
      channel === "is_suppressed"
        ? (["suppressed", "TRUE"] as const)
        : ([channel as "email" | "phone", "UNSUBSCRIBED"] as const),
    ),
  );
}

function wordsOfWrite(write: Write): Words {
  if ("contact" in write) return wordsOf(write.contact, write.operation === "v1.contactGroups.addContact");
  return "request" in write ? wordsOf(write.request.body, false) : { keys: [], said: new Map() };
}

/** All writes of a row are about one person. */
function together(all: readonly Words[]): Words {
  return { keys: all.flatMap(({ keys }) => keys), said: new Map(all.flatMap(({ said }) => [...said])) };
}

function withKeys<C extends { email?: string; phone?: string }>(
  contacts: readonly C[],
  keys: readonly string[],
): C[] {
  const digits = (key: string) => key.replace("phone:+", "phone:");
  return contacts.filter(({ email, phone }) =>
    keys.some((key) => key === `email:${email}` || digits(key) === digits(`phone:${phone}`)),
  );
}

/** As a file of `readSnapshot` would show them. */
function snapshotOf(contacts: readonly MockContact[]): Snapshot {
  return {
    readAt: new Date(0),
    checkFor: async () => undefined,
    // Safe: the words of this world are documented.
    shownOf: (keys) => withKeys(contacts, keys) as ReturnType<Snapshot["shownOf"]>,
  };
}
