// A language for the nights of an import, and its interpreter.
import { type AudienceClient, type BulkRows, type V1Contact, type Write, write } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { expect } from "vitest";
import { createFixture, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { addresses, contact, endOf, peopleOf, snapshotOf } from "./people.ts";

/**
 * The steps of an import, night after night, and of others who write the same people.
 *
 * - `ada:+`: a night of one row, which writes Ada. Signs of `people.ts`. `ada:+ ada2:.-` are two writes, one after the other;
 *   `ada:+ & bob:-` are two rows, each with a key of its own.
 * - `ada:+ (…)`: `unchanged`, as every other night changes the city; `refused`: the service refuses the first call of a row;
 *   `in doubt`: the call is applied, and its answer unreadable; `unanswered`: nobody knows whether it was; `left`: the loop is
 *   left, so that the next night goes on; `absent`: the row has another key; `one key`: all rows have the same; `list`: an array,
 *   which is gone through twice; `double opt-in`: the person is asked to confirm, `double opt-in at first` by the
 *   first write alone, and `at last` by the last;
 *   `no look`: without checkConsent; `snapshot`: with a snapshot of that evening; `outdated`: isCurrent says no, `first
 *   outdated` of the first row alone.
 * - `call ada:-`: another call of the client, after the first row, before the end of its run; `early call ada:-`: before the row.
 * - `tool ada:-`, `early tool ada:-`: another process writes. A call or a tool that subscribes her does so as she asks for it.
 * - `person ada:-`: she unsubscribes at the service, with `ada:.-` by telephone. `ada confirms` the mail of a double opt-in.
 * - `everyone is deleted` at the service.
 */
type Step = string;

/**
 * Each two lines of a table: a rule; and its steps, the ends of the rows, the consents at the service, the looks of each night,
 * and, where the rule is about them, its writes.
 */
export function casesOf(table: string) {
  const lines = table.trim().split("\n");
  return lines.flatMap((line, at) => {
    if (at % 2 === 1) return [];
    const [steps = "", ends, people, looks, writes] = lines[at + 1]!.split("|").map((part) => part.trim());
    return [[line.trim(), steps.split("; "), { ends, people, looks, ...(writes && { writes }) }] as const];
  });
}

type ToWrite = (contact: V1Contact) => Write | Write[];

/** What a row writes. */
export const jobs: Record<string, ToWrite> = {
  "adds to a list": add,
  "leaves the consent to the list": add,
  "sends events alone": send,
  "sends events beside": (each) => [asUpsert(each), send(each)],
  "writes by v2, whose answer has no id": ofV2,
  "writes by v1 and v2": (each) => [asUpsert(each), ofV2(each)],
  "writes by v2 and v1": (each) => [ofV2(each), asUpsert(each)],
  "creates by a custom request": request("/api/v1/customer/create"),
  "adds by a custom request": request("/api/v1/contact-groups/mock-list/contacts"),
};

function add(each: V1Contact): Write {
  // Safe: each row has an e-mail.
  const person = each as V1Contact & { email: string };
  return write.v1.contactGroups.addContact("mock-list", person, { consent: "service-decides" });
}

function send({ email, city }: V1Contact): Write {
  const about = { contact: { email: email! }, eventData: { city: city! } };
  return write.v1.events.send({ eventName: "imported", ...about });
}

function request(path: string) {
  return (body: V1Contact) => write.v1.request({ method: "POST", path, body }, { repeatable: true });
}

interface Night {
  /** What others write before its rows. */
  readonly early: { readonly by: string; readonly said: V1Contact }[];
  readonly rows: readonly (readonly V1Contact[])[];
  readonly flags: string;
  readonly calls: V1Contact[];
  /** What others do before the next night. */
  readonly between: Step[];
}

/** What a first call of a row may meet. */
const faults = [
  ["refused", "redirect"],
  ["in doubt", "wrong-json"],
  ["unanswered", "reset-before"],
] as const;

function contactsOf(text: string): V1Contact[] {
  return text.split(" ").flatMap((each) => {
    const [name, signs] = each.split(":");
    return signs === undefined ? [] : [contact(signs, name)];
  });
}

function nightsOf(steps: readonly Step[]): Night[] {
  const nights: Night[] = [];
  let early: Night["early"] = [];
  for (const step of steps) {
    const kinds = /^(?:(early call|early tool|call|tool|person|ada(?= c)|everyone) )?(.*)$/;
    const [, kind = "", text = ""] = kinds.exec(step)!;
    if (kind.startsWith("early")) early.push(...contactsOf(text).map((said) => ({ by: kind, said })));
    else if (kind === "call") nights.at(-1)!.calls.push(...contactsOf(text));
    else if (kind !== "") nights.at(-1)!.between.push(step);
    else {
      const [, people = "", flags = ""] = /^(.*?) ?(?:\((.*)\))?$/.exec(text)!;
      nights.push({ early, rows: people.split(" & ").map(contactsOf), flags, calls: [], between: [] });
      early = [];
    }
  }
  return nights;
}

function asUpsert(each: V1Contact): Write {
  return write.v1.customers.upsert(each);
}

function ofV2({ email = "", email_opt_in, city }: V1Contact): Write {
  return write.v2.contacts.upsert({ ...v2Contact(email, email_opt_in!.toLowerCase()), city });
}

interface Row {
  readonly index: number;
  readonly written: readonly V1Contact[];
}

/** Plays the steps: how the rows ended each night, how often they were looked up and written, and the people after it. */
export async function play(steps: readonly Step[], toWrite: ToWrite = asUpsert) {
  const apiKeys = ["mock-key-of-job", "mock-key-of-tool"];
  const lists = [{ id: "mock-list", name: "List" }];
  const mock = createMockService({
    organizations: [{ id: "mock-organization", apiKeys, appId: "app", lists }],
  });
  const { audience } = createFixture({}, { ...mock.clientOptions, maxRetries: 0 });
  const tool = audience.withOptions({ apiKey: "mock-key-of-tool" });
  const checkpoint = new MemoryCheckpoint();
  const ends: string[] = [];
  const looks: number[] = [];
  const writes: number[] = [];
  const keys = new Set<string>();
  let changes = 0;
  for (const { early, rows, flags, calls, between } of nightsOf(steps)) {
    const has = (flag: string) => flags.includes(flag);
    if (!has("unchanged")) changes += 1;
    const city = `City ${changes}`;
    const all = rows.map((contacts, index): Row => {
      const isMailed = (at: number) =>
        has("double opt-in") && !(has("at last") && at === 0) && !(has("at first") && at > 0);
      const written = contacts.map((each, at) => ({
        ...each,
        city,
        ...(isMailed(at) && { double_opt_in: true }),
      }));
      return { index, written };
    });
    for (const [flag, kind] of faults)
      if (has(flag)) mock.addFault({ kind, operation: "v1.customers.upsert", times: 1 });
    async function* stream() {
      for (const { by, said } of early) await direct(by === "early tool" ? tool : audience, mock, said);
      yield* all;
    }
    const source: BulkRows<Row> = has("list") ? all : stream();
    const options = {
      checkpoint,
      key: ({ index }: Row) =>
        has("absent") ? "another" : index === 0 || has("one key") ? "row" : `row ${index}`,
      ...(has("no look") && { checkConsent: false }),
      ...(has("snapshot") && { snapshot: await snapshotOf(audience) }),
    };
    for (const row of all) keys.add(options.key(row));
    const toWrites = ({ written }: Row) => written.flatMap(toWrite);
    const plan = await audience.bulk.check(all, toWrites, options);
    const before = mock.requests.length;
    const run = audience.bulk(source, toWrites, {
      ...options,
      ...(has("outdated") && { isCurrent: ({ index }: Row) => has("first outdated") && index > 0 }),
      concurrency: 1,
      stopWhen: () => false,
    });
    const endsOfRows: string[] = [];
    for await (const result of run) {
      endsOfRows[result.index] = endOf(result);
      // The check tells beforehand which rows a run will skip.
      if (rows.length === 1) expect(plan.unchanged).toBe(result.status === "skipped" ? 1 : 0);
      for (const each of calls.splice(0)) await direct(audience, mock, each);
      if (has("left")) break;
    }
    ends.push(endsOfRows.join(" & "));
    const requests = mock.requests.slice(before);
    looks.push(requests.filter(({ operation }) => operation === "v1.customers.get").length);
    // Only a row names a city.
    writes.push(requests.filter(({ body }) => JSON.stringify(body ?? "").includes("City")).length);
    for (const step of between) await act(step, { tool, mock });
  }
  // Of each key there is one line, whatever its row becomes.
  const lines = [...checkpoint.entries.keys()].filter((name) => name.startsWith("row:"));
  expect(lines.length).toBeLessThanOrEqual(keys.size);
  return {
    ends: ends.join(", "),
    people: peopleOf(mock),
    looks: looks.join(" "),
    writes: writes.join(" "),
    resubscriptions: mock.resubscriptions.length,
  };
}

async function act(step: Step, { tool, mock }: { tool: AudienceClient; mock: MockService }) {
  if (step === "everyone is deleted") return mock.reset();
  if (step === "ada confirms") return mock.confirm(addresses["ada"]!.email);
  const [by, text] = step.split(" ") as [string, string];
  const [said] = contactsOf(text);
  if (by === "person") return mock.unsubscribe(said!.email ?? said!.phone!);
  await direct(tool, mock, said!);
}

async function direct(client: AudienceClient, mock: MockService, said: V1Contact): Promise<void> {
  const { contacts } = mock.organization("mock-organization");
  const isKnown = contacts.some(({ email }) => email === said.email);
  if (isKnown && said.email_opt_in === "SUBSCRIBED") mock.asksAgain(said.email!);
  await client.v1.customers.upsert(said);
}
