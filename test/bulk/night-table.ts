import type { AudienceClient, BulkRequest, V1Contact, V1OptIn } from "audience-sdk";
import { createMockService, type MockService, type MockServiceOptions } from "audience-sdk/mock";
import { createFixture } from "./fixture.ts";
import { MemoryCheckpoint, RewrittenCheckpoint } from "./memory-checkpoint.ts";

/**
 * The steps of an import of one row, night after night, and of others who write the same people.
 *
 * - `ada:+`: a night; the row writes Ada. Signs of e-mail and telephone: `+` subscribed, `-` unsubscribed, `0` neither,
 *   `?` named without a consent, `.` not named. `ada:+ bob:-` are two calls, one after the other.
 * - `ada:+ (…)`: `unchanged`, as every other night changes another field; `refused`: the service refuses the row's first
 *   call; `not current`: isCurrent says no; `left`: the loop is left, so that the next night goes on; `absent`: the run
 *   has another row instead.
 * - `call ada:-`: another call of the client, after the row, before the end of its run; `early call ada:-`: before the row.
 *   `in doubt`: its first call is applied, and the answer unreadable;
 *   `twice`: the row makes its call twice; `double opt-in`: the person is asked to confirm; `no look`: without checkConsent.
 * - `tool ada:-`: another process writes, with another key; a third sign `s` suppresses the contact, `x` ends that.
 * - `person ada:-`: she unsubscribes at the service, with `ada:.-` by telephone. `ada confirms` the mail of a double opt-in.
 * - `everyone is deleted` at the service.
 */
type Step = string;

/** Each two lines of a table: a rule; and its steps, the ends of the row, the consents at the service, and the looks of each night. */
export function casesOf(table: string) {
  const lines = table.trim().split("\n");
  return lines.flatMap((line, at) => {
    if (at % 2 === 1) return [];
    const [steps = "", ends = "", people = "", looks = ""] = lines[at + 1]!.split("|").map((part) =>
      part.trim(),
    );
    return [[line.trim(), steps.split("; "), ends, people, looks] as const];
  });
}

const optIns: Record<string, V1OptIn | undefined> = {
  "+": "SUBSCRIBED",
  "-": "UNSUBSCRIBED",
  "0": "NON_SUBSCRIBED",
};

const addresses: Record<string, { email: string; phone: string }> = {
  ada: { email: "ada@example.com", phone: "+15550100" },
  ada2: { email: "ada2@example.com", phone: "+15550100" },
  bob: { email: "bob@example.com", phone: "+15550101" },
};

/** `ada:+-` as a contact. */
function contactOf(text: string): V1Contact {
  const [name, signs] = text.split(":") as [string, string];
  const [email = ".", phone = ".", suppressed] = signs;
  const address = addresses[name]!;
  return {
    ...(email !== "." && { email: address.email, ...(optIns[email] && { email_opt_in: optIns[email] }) }),
    ...(phone !== "." && { phone: address.phone, ...(optIns[phone] && { phone_opt_in: optIns[phone] }) }),
    ...(suppressed !== undefined && { is_suppressed: suppressed === "s" }),
  };
}

const contactsOf = (text: string) => text.split(" ").map(contactOf);

interface Night {
  readonly early: readonly V1Contact[];
  readonly row: readonly V1Contact[];
  readonly flags: string;
  readonly calls: readonly V1Contact[];
  /** What others do before the next night. */
  readonly between: readonly string[];
}

function nightsOf(steps: readonly Step[]): Night[] {
  const nights: (Night & { calls: V1Contact[]; between: string[] })[] = [];
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
      nights.push({ early, row: people === "" ? [] : contactsOf(people), flags, calls: [], between: [] });
      early = [];
    }
  }
  return nights;
}

interface HowToPlay {
  /** How a row's call is made; default: an upsert. */
  readonly send?: (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => Promise<unknown>;
  readonly variants?: MockServiceOptions["variants"];
  /** Whether each night rewrites its checkpoint. */
  readonly isRewritten?: boolean;
}

/**
 * Plays the steps. Returns how the row ended each night, how often the service was asked for a contact each night, and the
 * people's consents, as `ada:+-`.
 */
export async function play(
  steps: readonly Step[],
  { send = upsert, variants = {}, isRewritten = false }: HowToPlay = {},
) {
  const [key, toolKey] = ["mock-key-of-job", "mock-key-of-tool"];
  const mock = createMockService({
    organizations: [
      { id: "acme", apiKeys: [key, toolKey], appId: "app", lists: [{ id: "list", name: "List" }] },
    ],
    variants,
  });
  const { audience } = createFixture({}, { ...mock.clientOptions, apiKey: key });
  const tool = createFixture({}, { ...mock.clientOptions, apiKey: toolKey }).audience;
  const checkpoint = isRewritten ? new RewrittenCheckpoint() : new MemoryCheckpoint();
  const results: { status: string; reason?: unknown }[] = [];
  const looks: number[] = [];
  let changes = 0;
  for (const { early, row, flags, calls, between } of nightsOf(steps)) {
    if (!flags.includes("unchanged")) changes += 1;
    const city = `City ${changes}`;
    if (flags.includes("refused"))
      mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 });
    if (flags.includes("in doubt"))
      mock.addFault({ kind: "wrong-json", operation: "v1.customers.upsert", times: 1 });
    async function* source() {
      for (const contact of early) await audience.v1.customers.upsert(contact);
      yield { row, city };
    }
    const call = async (item: { row: readonly V1Contact[] }, request: BulkRequest) => {
      await Promise.resolve();
      const times = flags.includes("twice") ? 2 : 1;
      const confirm = flags.includes("double opt-in") && { double_opt_in: true };
      for (const contact of Array(times).fill(item.row).flat() as V1Contact[])
        await send(audience, { ...contact, city, ...confirm }, request);
    };
    const asked = countLooks(mock);
    const run = audience.bulk(source(), call, {
      checkpoint,
      key: () => (flags.includes("absent") ? "another" : "row"),
      ...(flags.includes("not current") && { isCurrent: () => false }),
      ...(flags.includes("no look") && { checkConsent: false }),
      stopWhen: () => false,
    });
    for await (const result of run) {
      results.push(result);
      for (const contact of calls) await audience.v1.customers.upsert(contact);
      if (flags.includes("left")) break;
    }
    looks.push(countLooks(mock) - asked);
    for (const step of between) await act(step, { tool, mock });
  }
  const ends = results.map(({ status }) => status).join(" ");
  return { results, ends, looks: looks.join(" "), people: peopleOf(mock) };
}

function countLooks({ requests }: MockService): number {
  return requests.filter(({ operation }) => operation === "v1.customers.get").length;
}

function upsert(audience: AudienceClient, contact: V1Contact, request: BulkRequest): Promise<unknown> {
  return audience.v1.customers.upsert(contact, request);
}

async function act(step: string, { tool, mock }: { tool: AudienceClient; mock: MockService }) {
  if (step === "everyone is deleted") return mock.reset();
  if (step === "ada confirms") return mock.confirm(addresses["ada"]!.email);
  const [by, text] = step.split(" ") as [string, string];
  const contact = contactOf(text);
  if (by === "tool") return void (await tool.v1.customers.upsert(contact));
  mock.unsubscribe(contact.email ?? contact.phone!);
}

/** `ada:+- bob:0.s`, with an `s` of those who are suppressed, and without those whom the service does not know. */
function peopleOf(mock: MockService): string {
  const sign = (optIn: string) => Object.keys(optIns).find((each) => optIns[each] === optIn);
  return Object.keys(addresses)
    .flatMap((name) => {
      const { email, phone } = addresses[name]!;
      const { contacts } = mock.organization("acme");
      const byPhone = contacts.find((each) => each.email === undefined && each.phone === phone);
      const contact =
        contacts.find((each) => each.email === email) ?? (name === "ada2" ? undefined : byPhone);
      if (!contact) return [];
      const signOfEmail = contact.email === undefined ? "." : sign(contact.email_opt_in);
      const signOfPhone = contact.phone === undefined ? "." : sign(contact.phone_opt_in);
      const signs = `${signOfEmail}${signOfPhone}${contact.is_suppressed ? "s" : ""}`;
      return [`${name}:${signs.replace(/\.$/, "")}`];
    })
    .join(" ");
}
