import { isDeepStrictEqual } from "node:util";
import { AudienceClient, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { v1ContactSchema, v1EventSchema, v1ListContactSchema, v2ContactSchema } from "audience-sdk/schemas";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { offline, offlineFetch } from "../transport/fixture.ts";
import { namedExceptions } from "./payloads/exceptions.ts";
import {
  anyPayload,
  fixedPayloads,
  knownPhones,
  type Payload,
  type Verdict,
  writes,
} from "./payloads/payload.ts";
import { runs, timesOf } from "./runs.ts";

const count = timesOf(10_000, 400);

const sent: unknown[] = [];
const { v1, v2 } = new AudienceClient({
  ...offline,
  fetch: (url, init) => {
    sent.push(init.body);
    return offlineFetch(url, init);
  },
});

const entryPoints = {
  "v1.customers.upsert": {
    schema: v1ContactSchema,
    path: "/api/v1/customer/create",
    call: (body: never) => v1.customers.upsert(body),
  },
  "v1.contactGroups.addContact": {
    schema: v1ListContactSchema,
    path: "/api/v1/contact-groups/news/contacts",
    call: (body: never) => v1.contactGroups.addContact("news", body, { consent: "service-decides" }),
  },
  "v1.events.send": {
    schema: v1EventSchema,
    path: "/api/v1/events",
    call: (body: never) => v1.events.send(body),
  },
  "v2.contacts.upsert": {
    schema: v2ContactSchema,
    path: "/v2/contacts",
    call: (body: never) => v2.contacts.upsert(body),
  },
};

const mock = createMockService({
  organizations: [
    {
      id: "acme",
      apiKeys: ["mock-key"],
      appId: "mock-app",
      lists: [{ id: "news", name: "Newsletter", created_at: 1_700_000_000 }],
      contacts: [...knownPhones.map((phone) => ({ phone })), { id: "known", email: "known@example.com" }],
    },
  ],
});
const { baseUrl, baseUrlV2, apiKey, appId } = mock.clientOptions;

/** The verdict of the client, which the exported schema must share; what is accepted must be sent as it is given. */
async function acceptedBySchemas({ write, body }: Payload): Promise<Verdict> {
  const { schema, call } = entryPoints[write];
  sent.length = 0;
  const error: unknown = await call(body as never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const [whole] = sent;
  if (error instanceof ValidationError) {
    if (sent.length > 0) throw new Error("the client refuses the body, and sends it");
    return "refused";
  }
  if (error !== undefined) throw new Error("the client fails", { cause: error });
  const { success, data } = schema.safeParse(body);
  if (!success) throw new Error("the client accepts the body, and the exported schema does not");
  if (!isDeepStrictEqual(data, body)) throw new Error("the schema accepts the body, but changes it");
  const given = JSON.stringify(body);
  // An event without an id gets one, after its own fields.
  const isGiven =
    whole === given || (write === "v1.events.send" && String(whole).startsWith(given.slice(0, -1)));
  if (!isGiven) throw new Error(`${write} sends ${String(whole)}`);
  return "accepted";
}

/**
 * The verdict of the mock on a plain request: 400 is a refusal. 404 means that no contact has the `contactUUID`, after the
 * body has been accepted. Any other status is a defect.
 */
async function acceptedByMock({ write, body }: Payload): Promise<Verdict> {
  const isV2 = write.startsWith("v2.");
  const credentials = isV2 ? { "service-api-key": apiKey, "service-app-id": appId } : { "x-api-key": apiKey };
  const { status } = await mock.fetch((isV2 ? baseUrlV2 : baseUrl) + entryPoints[write].path, {
    method: "POST",
    headers: { ...credentials, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (status === 400) return "refused";
  mock.reset();
  if ((status >= 200 && status <= 299) || (status === 404 && write === "v1.events.send")) return "accepted";
  throw new Error(`the mock responds with ${status}`);
}

/** The payload after its transfer as JSON, where `-0` is `0`. */
function onTheWire(payload: Payload): Payload {
  const body: unknown = JSON.parse(JSON.stringify(payload.body));
  return { ...payload, body };
}

const tally = new Map<string, number>();
const add = (name: string) => void tally.set(name, (tally.get(name) ?? 0) + 1);

/** Throws where the verdicts differ without a named exception, or contradict the generator. */
async function check(payload: Payload): Promise<void> {
  const schemas = await acceptedBySchemas(payload);
  const service = await acceptedByMock(payload);
  add(`${payload.write} ${schemas}`);
  const { write, verdict, body } = payload;
  const problem = (verdicts: string) => new Error(`${write}: ${verdicts}\n${JSON.stringify(body)}`);

  if (schemas !== service) {
    const exception = namedExceptions.find(
      (one) => one.schemas === schemas && one.mock === service && one.covers(payload),
    );
    if (!exception) throw problem(`${schemas} by the schemas, ${service} by the mock`);
    return add(exception.name);
  }
  if (schemas !== (verdict ?? schemas)) throw problem(`${schemas} by both`);
}

// The client refuses with the schemas, and sends JSON.stringify of what it accepts.
describe("the schemas and the mock implement the service document alike", () => {
  afterAll(() => {
    if (count > 10_000) process.stdout.write(`${JSON.stringify(Object.fromEntries(tally), null, 2)}\n`);
  });

  it("on every fixed value of every field", async () => {
    const problems: string[] = [];
    for (const payload of fixedPayloads)
      await check(onTheWire(payload)).catch((problem: unknown) => problems.push(String(problem)));

    expect(problems.slice(0, 20)).toEqual([]);
    expect(fixedPayloads.length).toBeGreaterThan(2_000);
  });

  it(
    `on ${count.toLocaleString("en")} generated bodies of the four writes, except the named exceptions`,
    async () => {
      const property = fc.asyncProperty(anyPayload, (generated) => check(onTheWire(generated)));
      await fc.assert(property, runs(count));

      const share = count / writes.length / 8;
      for (const write of writes) {
        expect(tally.get(`${write} accepted`)).toBeGreaterThan(share);
        expect(tally.get(`${write} refused`)).toBeGreaterThan(share);
      }
    },
    60_000 + 10 * count,
  );
});
