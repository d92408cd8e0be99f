import { join } from "node:path";
// People of tests, and what is said of their consent, in signs: `+-` is e-mail subscribed, phone unsubscribed.
import type { AudienceClient, BulkResult, V1Contact, V1OptIn } from "audience-sdk";
import type { MockContact, MockService } from "audience-sdk/mock";
import { readSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../snapshot/fixture.ts";

/** `?`: named without a word. A channel with `.` is not named. A third sign is `s` for suppressed, `x` for not. */
const words: Record<string, V1OptIn | undefined> = {
  "+": "SUBSCRIBED",
  "-": "UNSUBSCRIBED",
  "0": "NON_SUBSCRIBED",
};

export const addresses: Record<string, { email: string; phone: string }> = {
  ada: { email: "ada@example.com", phone: "+15550100" },
  ada2: { email: "ada2@example.com", phone: "+15550100" },
  ada3: { email: "ada@example.com", phone: "+15550199" },
  ada4: { email: "ada4@example.com", phone: "+15550198" },
  bob: { email: "bob@example.com", phone: "+15550101" },
};

/** Ada with these signs, or another person. */
export function contact(signs: string, name = "ada"): V1Contact {
  const [email = ".", phone = ".", suppressed] = signs;
  const address = addresses[name]!;
  return {
    ...(email !== "." && { email: address.email, ...(words[email] && { email_opt_in: words[email] }) }),
    ...(phone !== "." && { phone: address.phone, ...(words[phone] && { phone_opt_in: words[phone] }) }),
    ...(suppressed !== undefined && { is_suppressed: suppressed === "s" }),
  };
}

type Consents = {
  readonly [Field in keyof Pick<V1Contact, "email" | "phone" | "email_opt_in" | "phone_opt_in">]?:
    | string
    | undefined;
} & { readonly is_suppressed?: boolean | undefined };

/** The signs of a contact, or of what was sent of one. */
export function signsOf({ email, email_opt_in, phone, phone_opt_in, is_suppressed }: Consents): string {
  const sign = (address: unknown, word = "?") =>
    address === undefined ? "." : (Object.keys(words).find((each) => words[each] === word) ?? "?");
  const suppressed = is_suppressed === undefined ? "" : is_suppressed ? "s" : "x";
  return sign(email, email_opt_in) + sign(phone, phone_opt_in) + suppressed;
}

/** The people that the service has, as `ada:+- bob:0.s`. */
export function peopleOf(mock: MockService, organization = "mock-organization"): string {
  const signs = (each: MockContact) => signsOf(each).replace(/x$/, "").replace(/\.$/, "");
  const { contacts } = mock.organization(organization);
  const nameOf = ({ email, phone }: MockContact) =>
    Object.keys(addresses).find((name) => email === addresses[name]!.email) ??
    Object.keys(addresses).find((name) => phone === addresses[name]!.phone);
  return contacts.map((each) => `${nameOf(each)}:${signs(each)}`).join(" ");
}

/** `succeeded email:process`, `superseded:service`, `skipped`. */
export function endOf({ status, kept, reason }: BulkResult<unknown, unknown>): string {
  const channels = Object.entries(kept ?? {}).map(([channel, by]) => ` ${channel}:${by}`);
  return `${status}${reason === undefined ? "" : `:${reason}`}${channels.toSorted().join("")}`;
}

/** How the rows of a run ended, in their order. */
export async function endsOf(run: AsyncIterable<BulkResult<unknown, unknown>>): Promise<string[]> {
  const ends: string[] = [];
  for await (const result of run) ends[result.index] = endOf(result);
  return ends;
}

/** What the service shows now. */
export async function snapshotOf(audience: AudienceClient, organization?: string): Promise<Snapshot> {
  const snapshot = await readSnapshot(audience, {
    file: join(temporaryFolder(), "audience.ndjson"),
    organization,
  });
  onTestFinished(() => snapshot.close());
  return snapshot;
}
