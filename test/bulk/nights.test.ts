// The nights of an import: what stands, who comes back, and what remains, as a table.
import { type AudienceClient, type V1Contact, type Write, write } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { createFixture, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { addresses, contact, endOf, peopleOf, snapshotOf } from "./people.ts";

/**
 * The steps of an import of one row, night after night, and of others who write the same people.
 *
 * - `ada:+`: a night; the row writes Ada. Signs of `people.ts`. `ada:+ ada2:.-` are two writes, one after the other.
 * - `ada:+ (…)`: `unchanged`, as every other night changes the city; `refused`: the service refuses the row's first call;
 *   `in doubt`: the call is applied, and its answer unreadable; `unanswered`: nobody knows whether it was; `left`: the loop is left, so that the next night goes on;
 *   `absent`: the row has another key; `double opt-in`: the person is asked to confirm, `double opt-in at last` by the last write
 *   alone; `no look`: without checkConsent; `snapshot`: with a snapshot of that evening; `outdated`: isCurrent says no.
 * - `call ada:-`: another call of the client, after the row, before the end of its run; `early call ada:-`: before the row.
 * - `tool ada:-`: another process writes. A call or a tool that subscribes her does so as she asks for it.
 * - `person ada:-`: she unsubscribes at the service, with `ada:.-` by telephone. `ada confirms` the mail of a double opt-in.
 * - `everyone is deleted` at the service.
 */
type Step = string;

/**
 * Each two lines of a table: a rule; and its steps, the ends of the row, the consents at the service, the looks of each night, and,
 * where the rule is about them, its writes.
 */
function casesOf(table: string) {
  const lines = table.trim().split("\n");
  return lines.flatMap((line, at) => {
    if (at % 2 === 1) return [];
    const [steps = "", ends, people, looks, writes] = lines[at + 1]!.split("|").map((part) => part.trim());
    return [[line.trim(), steps.split("; "), { ends, people, looks, ...(writes && { writes }) }] as const];
  });
}

describe.each<[title: string, table: string, resubscriptions?: number]>([
  [
    "From night to night a refusal stands",
    `
  at the service: the row's other fields go through, and unchanged it is skipped with the same kept
    ada:+; person ada:-; ada:+; ada:+ (unchanged); ada:+ | succeeded, succeeded email:service, skipped email:service, succeeded email:service | ada:- | 0 1 0 1
  by telephone
    ada:.+; person ada:.-; ada:.+ | succeeded, succeeded phone:service | ada:.- | 0 1
  of one of two channels
    ada:++; person ada:.-; ada:++ | succeeded, succeeded phone:service | ada:+- | 0 1
  and says nothing of a channel that the row does not name
    ada:++; ada:+; person ada:.-; ada:+ | succeeded, succeeded, succeeded | ada:+- | 0 1 1
  where the row names the address without a word
    ada:?; person ada:-; ada:?; ada:+ | succeeded, succeeded email:service, succeeded email:service | ada:- | 0 1 1
  whatever is new in another channel
    ada:+0; person ada:-; ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  where the row names a channel more
    ada:+; person ada:-; ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  and an opt-out of another channel goes with it
    ada:++; person ada:-; ada:+- | succeeded, succeeded email:service | ada:-- | 0 1
  over two writes of the row, with one look
    ada:+ ada:++; person ada:-; ada:+ ada:++ | succeeded, succeeded email:service | ada:-+ | 0 1
  after a double opt-in
    ada:+ (double opt-in); person ada:-; ada:+ (double opt-in) | succeeded, succeeded email:service | ada:- | 0 1
  as a suppression, which each write restates
    ada:+; tool ada:+.s; ada:+ | succeeded, succeeded | ada:+.s | 0 1
  as a suppression that the row would end
    ada:+.x; tool ada:+.s; ada:+.x | succeeded, succeeded is_suppressed:service | ada:+.s | 0 1
  though the row has failed since
    ada:+; ada:+ (refused); person ada:-; ada:+ (unchanged) | succeeded, failed, succeeded email:service | ada:- | 0 1 1
  though a new opt-in may have been applied
    ada:0; ada:+ (in doubt); person ada:-; ada:+ (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  though a row that says NON_SUBSCRIBED may not have been sent
    ada:+; ada:0 (unanswered); person ada:-; ada:0 (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  though a run was left, and its row may have been applied
    ada:+ (left); ada:+ (in doubt, left); person ada:-; ada:+ (unchanged) | succeeded, unknown, succeeded email:service | ada:- | 0 1 1
  that the row itself wrote, whatever it says later
    ada:+; ada:-; ada:+; ada:0 | succeeded, succeeded, succeeded email:service, succeeded email:service | ada:- | 0 0 1 1
  that the row itself wrote, through nights of failure
    ada:-; ada:0 (refused); ada:+ (refused); ada:+ | succeeded, failed, failed, succeeded email:service | ada:- | 0 1 1 1
  that another call wrote during a night
    ada:+; call ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  that another call wrote before the row, unchanged with the same kept
    early call ada:-; ada:+; ada:+ (unchanged); ada:+ | succeeded email:process, skipped email:process, succeeded email:service | ada:- | 0 0 1
  that another call wrote of a channel at whose address the row says nothing
    early call ada:+-; ada:+?; ada:0? | succeeded phone:process, succeeded phone:service | ada:0- | 0 1
  that another call wrote before one without a consent
    early call ada:- ada:?; ada:+ | succeeded email:process | ada:- | 0
  that another call wrote, though the service shows a contact without that address
    ada:.+; early call ada:-; ada:+ | succeeded, succeeded email:process | ada:.+ ada:- | 0 1
  that another call wrote, as a suppression, though the service shows the contact that the row had before
    ada:+; early call ada2:?.s; ada2:+ | succeeded, succeeded | ada:+ ada2:+.s | 0 1
  in a run that goes on, for a row that it had not read
    (left); call ada:-; ada:+ (left); ada:+ (no look) | skipped, succeeded email:process, succeeded email:process | ada:- | 0 0 0
  in a run that goes on, channel by channel
    ada:+0 (left); call ada:0-; ada:-+ (no look) | succeeded, succeeded phone:process | ada:-- | 0 0
  after a first night that a snapshot guarded
    (left); call ada:-; (absent); ada:+ (snapshot); ada:+ | skipped, skipped, succeeded email:service, succeeded email:service | ada:- | 0 0 1 1
  of a contact of whom only a snapshot knows
    ada:+; bob:+; person ada:-; ada:+ (snapshot) | succeeded, succeeded, succeeded email:service | ada:- bob:+ | 0 1 1
  without looks, where a snapshot shows it
    ada:+; person ada:-; ada:+ (no look, snapshot) | succeeded, succeeded email:service | ada:- | 0 1
`,
  ],
  [
    "A row is superseded each night, until that changes, whose contact",
    `
  is gone
    ada:+; everyone is deleted; ada:+; ada:+ | succeeded, superseded:service, superseded:service |  | 0 1 1
  had refused before the row named another address
    ada:+; person ada:-; ada2:+; ada2:+ | succeeded, superseded:service, superseded:service | ada:- | 0 1 1
  is suppressed, where the row names somebody else
    ada:+; tool ada:+.s; bob:+ | succeeded, superseded:service | ada:+.s | 0 1
  of the last night had refused, where the row names an earlier one again
    ada:+; bob:-; ada:+ | succeeded, succeeded, superseded:service | ada:+ bob:- | 0 0 1
  is not current, without a look; the next night judges the row afresh, by what it was before
    ada:+ (outdated); ada:+ (unchanged); ada:0 (unchanged, outdated); ada:+ (unchanged) | superseded:not-current, succeeded, superseded:not-current, skipped | ada:+ | 0 0 0 0
  comes back
    ada:+; person ada:-; ada2:+; tool ada:+; ada2:+ | succeeded, superseded:service, succeeded | ada:+ ada2:+ | 0 1 1
  is refused at the new address too
    ada:+; person ada:-; ada2:- | succeeded, succeeded | ada:- ada2:- | 0 0
`,
  ],
  [
    "Who comes back, comes by a call of their own:",
    `
  by another process; the unchanged row stays as it is
    ada:+; person ada:-; ada:+; tool ada:+; ada:+ (unchanged); ada:+ | succeeded, succeeded email:service, skipped email:service, succeeded | ada:+ | 0 1 0 1
  by a call of the client
    ada:+; call ada:-; ada:+; call ada:+; ada:+ | succeeded, succeeded email:service, succeeded | ada:+ | 0 1 1
  by a call of the client before the row
    early call ada:- ada:+; ada:+ | succeeded | ada:+ | 0
  by a call of the client in a run that goes on, after one that refused
    (left); call ada:-; early call ada:+; ada:+ (no look) | skipped, succeeded | ada:+ | 0 0
  by another process, in a run that goes on
    ada:+ (left); call ada:-; ada:+ (left); tool ada:+; ada:+ | succeeded, succeeded email:service, succeeded | ada:+ | 0 1 1
  by the mail of a double opt-in
    ada:+ (double opt-in); tool ada:0; ada:+ (double opt-in); ada confirms; ada:+ (double opt-in) | succeeded, succeeded, succeeded | ada:+ | 0 1 1
`,
  ],
  [
    "Nothing holds back, and looks up only what says more than refusals:",
    `
  a consent that nobody has refused
    ada:+; tool ada:0; ada:+; ada:0; ada:0 | succeeded, succeeded, succeeded, succeeded | ada:0 | 0 1 1 1
  an opt-out, changed or not
    ada:-; ada:-; ada:- (unchanged) | succeeded, succeeded, skipped | ada:- | 0 0 0
  an opt-out that suppresses
    ada:++; ada:--s | succeeded, succeeded | ada:--s | 0 0
  a row after another word of a call
    early call ada:0; ada:+ | succeeded | ada:+ | 0
  a row after a call's refusal of another contact
    early call bob:-; ada:+ | succeeded | bob:- ada:+ | 0
  a row after a call's refusal of another channel
    early call ada:+-; ada:+ | succeeded | ada:+- | 0
  an opt-out after another call's opt-in
    early call ada:+; ada:-; ada:- (refused); ada:- | succeeded, failed, succeeded | ada:- | 0 0 0
  an opt-out in a run that goes on
    ada:+ (left); call ada:+; early call ada:+; ada:- (left); ada:- | succeeded, succeeded, succeeded | ada:- | 0 0 0
  a row of which nothing is known
    ada:+ (refused); ada:+ | failed, succeeded | ada:+ | 0 0
  an unchanged row
    ada:+; person ada:-; ada:+ (unchanged) | succeeded, skipped | ada:- | 0 0
`,
  ],
  [
    "A night sends exactly what has changed:",
    `
  a row that changes, and changes back
    ada:+; ada:0 (unchanged); ada:0 (unchanged); ada:+ (unchanged) | succeeded, succeeded, skipped, succeeded | ada:+ | 0 1 0 1 | 1 1 0 1
  no row that changed back after a write that was not applied: it is as the night before
    ada:+; ada:0 (unchanged, refused); ada:+ (unchanged) | succeeded, failed, skipped | ada:+ | 0 1 0 | 1 1 0
  a row that changed back after a write that may have been applied, as it may have to be undone
    ada:+; ada:0 (unchanged, in doubt); ada:+ (unchanged) | succeeded, unknown, succeeded | ada:+ | 0 1 1 | 1 1 1
`,
  ],
  [
    "A row that may have been carried out",
    `
  is sent again where it is repeatable, as it now says
    ada:+ (in doubt); ada:+ (unchanged); ada:+ (unchanged) | unknown, succeeded, skipped | ada:+ | 0 0 0 | 1 1 0
  also changed
    ada:+ (in doubt); ada:0; ada:0 (unchanged) | unknown, succeeded, skipped | ada:0 | 0 0 0 | 1 1 0
  is sent each night while its end is unknown
    ada:+ (in doubt); ada:0 (in doubt); ada:+ (in doubt); ada:+ (unchanged) | unknown, unknown, unknown, succeeded | ada:+ | 0 0 0 0 | 1 1 1 1
  is not sent where it must not be repeated
    ada:+ (double opt-in, in doubt); ada:+ (double opt-in, unchanged); ada:+ (double opt-in, unchanged) | unknown, unknown, unknown | ada:+ | 0 0 0 | 1 0 0
  also changed, as it may be the same mail
    ada:+ (double opt-in, in doubt); ada:0 (double opt-in); ada:0 (double opt-in, unchanged) | unknown, unknown, unknown | ada:+ | 0 0 0 | 1 0 0
  or where one of its writes must not be
    ada:+ (double opt-in, in doubt); ada:0 ada:0 (double opt-in at last) | unknown, unknown | ada:+ | 0 0 | 1 0
  until its writes may be repeated
    ada:+ (double opt-in, in doubt); ada:0 (double opt-in); ada:0; ada:0 (unchanged) | unknown, unknown, succeeded, skipped | ada:0 | 0 0 0 0 | 1 0 1 0
  or until it says nothing but refusals, which ends the doubt
    ada:+ (double opt-in, in doubt); ada:- (double opt-in); ada:- (double opt-in, unchanged); ada:+ | unknown, succeeded, skipped, succeeded email:service | ada:- | 0 0 0 1 | 1 1 0 1
  but not with an opt-out that subscribes in another channel
    ada:+ (double opt-in, in doubt); ada:-+ (double opt-in) | unknown, unknown | ada:+ | 0 0 | 1 0
  or names a channel more, of which it does not say so
    ada:+ (double opt-in, in doubt); ada:-0 (double opt-in) | unknown, unknown | ada:+ | 0 0 | 1 0
`,
  ],
  [
    "What remains:",
    `
  a job without looks
    ada:+; person ada:-; ada:+ (no look) | succeeded, succeeded | ada:+ | 0 0
  a job without looks, of what another call refused in an earlier run
    (left); call ada:-; (absent); ada:+ (no look) | skipped, skipped, succeeded | ada:+ | 0 0 0
  a contact that is new to its key, and in no snapshot
    early call ada:-; ada:+ (absent); ada:+ | succeeded email:process, succeeded | ada:+ | 0 0
  a contact that its key had before another one, and in no snapshot
    ada:+; bob:+; person ada:-; ada:+ | succeeded, succeeded, succeeded | ada:+ bob:+ | 0 1 1
`,
    1,
  ],
])("%s", (_, table, resubscriptions = 0) => {
  it.each(casesOf(table))("%s", async (_rule, steps, expected) => {
    expect(await play(steps)).toMatchObject({ ...expected, resubscriptions });
  });
});

type ToWrite = (contact: V1Contact) => Write | Write[];

/** What a row writes. */
const jobs: Record<string, ToWrite> = {
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

it.each(
  casesOf(`
  adds to a list
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  leaves the consent to the list
    ada:?; person ada:-; ada:? | succeeded, succeeded email:service | ada:- | 0 1
  sends events alone
    ada:+; ada:+ | succeeded, succeeded | ada:0 | 0 0
  sends events beside
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  writes by v2, whose answer has no id
    ada:+; ada:+ | succeeded, succeeded | ada:+ | 0 0
  writes by v1 and v2
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  writes by v2 and v1
    ada:+; person ada:-; ada:+ | succeeded, succeeded email:service | ada:- | 0 1
  creates by a custom request
    ada:+; person ada:-; ada:+ | succeeded, superseded:service | ada:- | 0 1
  adds by a custom request
    ada:+; person ada:-; ada:+ | succeeded, superseded:service | ada:- | 0 1
`),
)("A row that %s is looked up by the id that its answer gave", async (job, steps, expected) => {
  expect(await play(steps, jobs[job])).toMatchObject({ ...expected, resubscriptions: 0 });
});

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
  readonly early: readonly V1Contact[];
  readonly contacts: readonly V1Contact[];
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
  return text.split(" ").map((each) => {
    const [name, signs] = each.split(":") as [string, string];
    return contact(signs, name);
  });
}

function nightsOf(steps: readonly Step[]): Night[] {
  const nights: Night[] = [];
  let early: V1Contact[] = [];
  for (const step of steps) {
    const [, kind = "", text = ""] = /^(?:(early call|call|tool|person|ada(?= c)|everyone) )?(.*)$/.exec(
      step,
    )!;
    if (kind === "early call") early = contactsOf(text);
    else if (kind === "call") nights.at(-1)!.calls.push(...contactsOf(text));
    else if (kind !== "") nights.at(-1)!.between.push(step);
    else {
      const [, people = "", flags = ""] = /^(.*?) ?(?:\((.*)\))?$/.exec(text)!;
      nights.push({
        early,
        contacts: people === "" ? [] : contactsOf(people),
        flags,
        calls: [],
        between: [],
      });
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

/** Plays the steps: how the row ended each night, how often it was looked up, and the people after it. */
async function play(steps: readonly Step[], toWrite: ToWrite = asUpsert) {
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
  let changes = 0;
  for (const { early, contacts, flags, calls, between } of nightsOf(steps)) {
    if (!flags.includes("unchanged")) changes += 1;
    const written = contacts.map((each, index) => ({
      ...each,
      city: `City ${changes}`,
      ...(flags.includes("double opt-in") &&
        (!flags.includes("at last") || index > 0) && { double_opt_in: true }),
    }));
    for (const [flag, kind] of faults)
      if (flags.includes(flag)) mock.addFault({ kind, operation: "v1.customers.upsert", times: 1 });
    async function* source() {
      for (const each of early) await direct(audience, mock, each);
      yield written;
    }
    const options = {
      checkpoint,
      key: () => (flags.includes("absent") ? "another" : "row"),
      ...(flags.includes("outdated") && { isCurrent: () => false }),
      ...(flags.includes("no look") && { checkConsent: false }),
      ...(flags.includes("snapshot") && { snapshot: await snapshotOf(audience) }),
    };
    const toWrites = (all: V1Contact[]) => all.flatMap(toWrite);
    const { isCurrent: _, ...planned } = options;
    const plan = await audience.bulk.check([written], toWrites, planned);
    const before = mock.requests.length;
    for await (const result of audience.bulk(source(), toWrites, { ...options, stopWhen: () => false })) {
      ends.push(endOf(result));
      // The check tells beforehand which rows a run will skip.
      expect(plan.unchanged).toBe(result.status === "skipped" ? 1 : 0);
      for (const each of calls) await direct(audience, mock, each);
      if (flags.includes("left")) break;
    }
    const requests = mock.requests.slice(before);
    looks.push(requests.filter(({ operation }) => operation === "v1.customers.get").length);
    // Only a row names a city.
    writes.push(requests.filter(({ body }) => JSON.stringify(body ?? "").includes("City")).length);
    for (const step of between) await act(step, { tool, mock });
  }
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
