import type { BulkRequest, V1OptIn } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "./fixture.ts";

// A row may write several people: what it states of one is no decision about another.

/** Each person's consent; null leaves it to the service. */
type Household = Record<string, V1OptIn | null>;

const [yes, no, none] = ["SUBSCRIBED", "UNSUBSCRIBED", "NON_SUBSCRIBED"] as const;

interface NightOptions {
  /** Other calls write these after the row has ended, and before its run has. */
  readonly writes?: Household;
  /** The first call of the row is refused. */
  readonly isRefused?: boolean;
}

/** An import of one row, night after night. The row writes one person after the other, and differs each night. */
function createImport() {
  const { audience, mock } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const options = { checkpoint, key: () => "home", stopWhen: () => false };
  let nights = 0;
  const upsert = (name: string, consent: V1OptIn | null, request?: BulkRequest) =>
    audience.v1.customers.upsert(
      { email: `${name}@example.com`, ...(consent && { email_opt_in: consent }), city: `City ${nights}` },
      request,
    );
  const night = async (household: Household, { writes = {}, isRefused = false }: NightOptions = {}) => {
    nights += 1;
    if (isRefused) mock.addFault({ kind: "redirect", times: 1 });
    const send = async (_: number, request: BulkRequest) => {
      for (const [name, consent] of Object.entries(household)) await upsert(name, consent, request);
    };
    const ends: string[] = [];
    for await (const { status } of audience.bulk([nights], send, options)) {
      ends.push(status);
      for (const [name, consent] of Object.entries(writes)) await upsert(name, consent);
    }
    return ends.join();
  };
  const consentOf = (name: string) =>
    mock.organization("mock-organization").contacts.find(({ email }) => email === `${name}@example.com`)
      ?.email_opt_in;
  const recordLength = () => checkpoint.values.get("row:home")!.length;
  return { night, consentOf, recordLength };
}

it("a person whom a failed night did not reach has decided nothing since", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: no, bob: yes }, { writes: { bob: no } });
  expect(await night({ ada: no, bob: yes }, { isRefused: true })).toBe("failed");

  expect(await night({ ada: no, bob: yes })).toBe("superseded");
  expect(consentOf("bob")).toBe(no);
});

it("a person whom no night has reached yet may have decided on the first of them", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: no, bob: yes }, { isRefused: true, writes: { bob: no } });
  await night({ ada: yes, bob: yes }, { isRefused: true });

  expect(await night({ ada: yes, bob: yes })).toBe("superseded");
  expect(consentOf("bob")).toBe(no);
});

it("a person whom the row lacked for a night has decided nothing since", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: no, bob: yes }, { writes: { bob: no } });
  expect(await night({ ada: no })).toBe("succeeded");

  expect(await night({ ada: no, bob: yes })).toBe("superseded");
  expect(consentOf("bob")).toBe(no);
});

it("a status is new for a person, whoever else of the row has stated it before", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: yes, bob: no }, { writes: { ada: none } });

  expect(await night({ ada: no, bob: no })).toBe("succeeded");
  expect(consentOf("ada")).toBe(no);
});

it("a new decision of one person is none of another's", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: yes, bob: yes }, { writes: { bob: no } });

  expect(await night({ ada: no, bob: yes })).toBe("superseded");
  expect(consentOf("bob")).toBe(no);
});

it("a person whose address changes has made no new decision", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: yes }, { writes: { ada2: no } });

  expect(await night({ ada2: yes })).toBe("superseded");
  expect(consentOf("ada2")).toBe(no);
});

it("a person who is named later without a consent changes nothing of another's", async () => {
  const { night, consentOf } = createImport();
  await night({ ada: none });
  await night({ bob: null, ada: yes }, { isRefused: true, writes: { ada: no } });

  await night({ bob: null, ada: yes });

  expect(consentOf("ada")).toBe(no);
});

it.each([
  ["a person joins who states no consent", () => ({ ada: null, bob: null })],
  ["its person is another one each night", (number: number) => ({ [`person-${number}`]: yes })],
])("the record of a row grows no longer after some nights, where %s", async (_, household) => {
  const { night, recordLength } = createImport();
  await night({ ada: yes });
  for (let number = 1; number <= 20; number += 1) await night(household(number));
  const before = recordLength();

  for (let number = 21; number <= 25; number += 1) await night(household(number));

  expect(recordLength()).toBeLessThan(before + 10);
});
