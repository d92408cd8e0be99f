import { AudienceClient, type ClientOptions, isAudienceError } from "audience-sdk";
import {
  createMockService,
  type MockFaultKind,
  type MockService,
  type MockVariants,
} from "audience-sdk/mock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WebPageError } from "../../examples/probe/ask.ts";
import { variants as learnable } from "../../examples/probe/learn.ts";
import { runProbe } from "../../examples/probe/probe.ts";
import { runs } from "../properties/runs.ts";
import { account, expectLearned, learned, shownByGets, shownOf } from "./probe-account.ts";
import { runHere } from "./run-program.ts";

const key = "secret-key-0123456789";
const own = "someone@my.example";

function service(options: Parameters<typeof createMockService>[0] = {}): MockService {
  const organization = {
    id: "real",
    apiKeys: [key],
    appId: "app-of-the-account",
    lists: [{ id: "news", name: "News" }],
    contacts: [{ email: "ada@example.com", phone: "+44 1632 960000" }],
  };
  return createMockService({ organizations: [organization], ...options });
}

const run = (client: ClientOptions, ...args: string[]) =>
  runHere((given) => runProbe({ args, client, ...given }));

const contactsOf = (mock: MockService) => mock.organization("real").contacts;

/** The value of a line of code in the report. */
function codeIn(out: string, name: string): string {
  return new RegExp(`^ +${name}: (.*),$`, "m").exec(out)?.[1] ?? "";
}

async function load<Code>(code: string): Promise<Code> {
  const { default: value } = (await import(
    /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(`export default ${code}`)}`
  )) as { default: Code };
  return value;
}

describe("The probe tells whether snapshots work for the account", () => {
  const organization = { id: "real", apiKeys: [key], appId: "app" };
  it.each<[string, Parameters<typeof service>[0], string]>([
    [
      "consents and a total",
      { variants: { v1Paging: "totals" } },
      "work: the list shows email_opt_in, phone_opt_in, is_suppressed, and a total, so that they can be complete",
    ],
    [
      "one consent alone, and no total",
      { variants: { v1Paging: "none", profileAttributes: "documented" } },
      "work: the list shows email_opt_in, and no total, so that they are never `complete`",
    ],
    [
      "no consent",
      { variants: { v1ListedConsents: false } },
      "the list shows no consent: snapshots cannot tell who has unsubscribed",
    ],
    ["no contact", { organizations: [organization] }, "not shown: no contact"],
    ["no list", { faults: [{ kind: "500-before", operation: "v1.customers.list" }] }, "not shown: "],
  ])("%s", async (_, options, fact) => {
    const { out } = await run(service(options).clientOptions);

    expect(/^ +snapshots +(.*)$/m.exec(out)?.[1]).toContain(fact);
  });
});

describe("The probe", () => {
  it("prints the variants, and no contact and no key; without --write it sends no write", async () => {
    const mock = service({ variants: { v1List: "root-key", v1Paging: "totals", v1NeedsAppId: true } });

    const { code, out, err } = await run(mock.clientOptions);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const line of [
      'v1List: "root-key",',
      'v1Paging: "totals",',
      "v1NeedsAppId: true,",
      "Service-App-Id",
    ])
      expect(out).toContain(line);
    expect(out).not.toMatch(/ada|960000|secret|@/);
    expect(mock.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  it("an unusual list and error come as functions, with which a mock is like the account", async () => {
    const variants: Partial<MockVariants> = {
      v1List: (items, page, _limit, total) => ({ payload: { people: items, total, page } }),
      v1Error: ({ status, message }) => ({ fault: { reason: "refused", detail: message, code: status } }),
    };
    const mock = service({ variants });

    const { out } = await run(mock.clientOptions);
    const like = service({
      variants: {
        v1List: await load(codeIn(out, "v1List")),
        v1Error: await load(codeIn(out, "v1Error")),
      },
    });

    const bodies = ["/api/v1/customer", "/api/v1/customer/unknown"].map((path) =>
      [mock, like].map(async ({ fetch, clientOptions: { baseUrl } }): Promise<unknown> =>
        (await fetch(baseUrl + path, { headers: { "X-API-Key": key } })).json(),
      ),
    );
    for (const pair of bodies) {
      const [before, after] = await Promise.all(pair);
      const withoutTimes = (body: unknown) =>
        JSON.stringify(body).replace(/"(created|updated)":"[^"]*"/g, "");
      expect(withoutTimes(after)).toBe(withoutTimes(before));
    }
  });

  const contacts = Array.from({ length: 25 }, (_, at) => ({ id: `c${at}`, email: `c${at}@example.com` }));
  const lists = [{ id: "news", name: "News" }];
  type ListBody = Extract<MockVariants["v1List"], (...values: never) => unknown>;

  it.each<[string, ListBody, string]>([
    [
      "the items and the total stand deeper",
      (items, page, _limit, total) => ({ payload: { people: items, total, page } }),
      "(body) => ({ items: Object(body).payload.people, totalItems: Object(body).payload.total })",
    ],
    [
      "a flag stands deeper",
      (items, page, limit, total) => ({
        "a b": { list: { rows: items } },
        info: { has_more: page * limit < total },
      }),
      '(body) => ({ items: Object(body)["a b"].list.rows, hasNextPage: Boolean(Object(body).info.has_more) })',
    ],
    [
      "an id has another name",
      (items) => ({
        data: items.map((item) => ({ ...item, id: undefined, uuid: Reflect.get(Object(item), "id") })),
      }),
      "(body) => ({ items: Array.from(Object(body).data, (row) => ({ ...row, id: row.uuid })) })",
    ],
    [
      "an item is wrapped in another key than data",
      (items) => ({ people: items.map((item) => ({ person: item, rank: 1 })) }),
      "(body) => ({ items: Array.from(Object(body).people, (row) => row.person) })",
    ],
  ])("where %s, it prints the parsePage with which every item comes once", async (_, v1List, code) => {
    const organization = { id: "real", apiKeys: [key], appId: "app", contacts, lists };
    const mock = createMockService({
      organizations: [organization],
      variants: { v1List, v1ListedCustomer: "flat" },
    });

    const { out } = await run(mock.clientOptions);

    expect(codeIn(out, "parsePage")).toBe(code);
    const { v1 } = new AudienceClient({ ...mock.clientOptions, parsePage: await load(code) });
    const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id);
    expect(idsOf(await v1.customers.list({ limit: 10 }).toArray())).toEqual(idsOf(contacts));
    expect(idsOf(await v1.contactGroups.list().toArray())).toEqual(["news"]);
  });

  it("where the two v1 lists differ, it prints one parsePage for both", async () => {
    const bodies: Record<string, unknown> = {
      "/api/v1/customer": { result: { people: [{ id: "ada" }] } },
      "/api/v1/contact-groups": { data: [{ id: "news" }], total: 1 },
    };
    const fetch = async (url: string) => {
      const body = bodies[new URL(url).pathname];
      return body === undefined ? Response.json({ message: "none" }, { status: 404 }) : Response.json(body);
    };
    const client = { ...service().clientOptions, fetch };

    const { out } = await run(client);

    const code = /^ {4}parsePage: ([^]*?),\n {2}\}\);/m.exec(out)?.[1] ?? "";
    const { v1 } = new AudienceClient({ ...client, parsePage: await load(code) });
    expect(await v1.customers.list().toArray()).toMatchObject([{ id: "ada" }]);
    expect(await v1.contactGroups.list().toArray()).toMatchObject([{ id: "news" }]);
  });

  it("prints no parsePage where the client reads the lists by itself, or where there is no array", async () => {
    expect((await run(service().clientOptions)).out).not.toMatch(/^ {4}parsePage:/m);
    const fetch = async () => Response.json({ result: "none" });
    expect((await run({ ...service().clientOptions, fetch })).out).not.toMatch(/^ {4}parsePage:/m);
  });

  it("--write learns what only writes show, and leaves its contact unsubscribed", async () => {
    for (const emailOptInOmitted of ["kept", "SUBSCRIBED", "NON_SUBSCRIBED"] as const) {
      const eventBody = { queued: true, for: own };
      const mock = service({
        variants: { emailOptInOmitted, phoneOptInOmitted: "SUBSCRIBED", eventStatus: 202, eventBody },
      });

      const { code, out } = await run(mock.clientOptions, "--write", own);

      expect(code).toBe(0);
      expect(out).toContain(`emailOptInOmitted: "${emailOptInOmitted}"`);
      expect(out).toContain('phoneOptInOmitted: "SUBSCRIBED"');
      expect(out).toContain("eventStatus: 202");
      expect(out).not.toContain(own);
      expect(contactsOf(mock)).toMatchObject([
        { email: "ada@example.com" },
        { email: own, email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
      ]);
      expect(mock.requests.filter(({ method }) => method === "POST")).toHaveLength(4);
    }
  });

  it("--write unsubscribes its contact also where the response to the write without opt-ins is lost", async () => {
    const mock = service({ variants: { emailOptInOmitted: "SUBSCRIBED" } });
    mock.addFault({ kind: "reset-after", operation: "v1.customers.upsert", after: 1, times: 1 });

    const { code, out } = await run(mock.clientOptions, "--write", own);

    expect(code).toBe(1);
    expect(out).not.toContain("emailOptInOmitted:");
    expect(contactsOf(mock)[1]).toMatchObject({ email: own, email_opt_in: "UNSUBSCRIBED" });
  });

  const echo = `<html>${key}</html>`;
  it.each([
    ["a web page", async () => new Response(echo, { status: 200 }), "is the base URL right?"],
    ["a 401 that echoes the key", async () => Response.json({ message: key }, { status: 401 }), "401 on GET"],
  ])("ends with a message, exit code 1 and no key at %s", async (_title, fetch, message) => {
    const { baseUrl, apiKey } = service().clientOptions;
    const client = { baseUrl, apiKey, fetch, timeoutMs: 50, rateLimiter: false } as const;

    const { code, out, err } = await run(client);

    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("secret");
  });
});

/** The names of all variants: the mock lists them where one is unknown. */
function allVariants(): string[] {
  const unknown = { none: 1 } as object;
  try {
    createMockService({ variants: unknown });
  } catch (error) {
    return /there are (.*)$/.exec(String(error))?.[1]?.split(", ") ?? [];
  }
  return [];
}

describe("The probe and the variants of the mock", () => {
  it("the probe learns each variant that GETs or its writes show, and has a reason for each other one", async () => {
    const learnedByGets = Object.keys(fc.sample(shownByGets, 1)[0] ?? {});
    const learnedByWrites = ["eventStatus", "eventBody", "emailOptInOmitted", "phoneOptInOmitted"];
    const withLearner = Object.entries(learnable).flatMap(([name, each]) =>
      typeof each === "string" ? [] : [name],
    );
    const { values } = await learned({ v1Paging: "meta" });

    expect(Object.keys(learnable).toSorted()).toEqual(allVariants().toSorted());
    expect(withLearner.toSorted()).toEqual([...learnedByGets, ...learnedByWrites].toSorted());
    expect(Object.keys(values).toSorted()).toEqual(learnedByGets.toSorted());
  });

  it("what it learns of a mock is what the mock has, in at most ten GETs and without a write", async () => {
    await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runs(2_500, 15));
  });

  it("what it learns of an account with nothing in it is true", async () => {
    const limits = { v2DefaultLimit: 20, v2MaxLimit: 100 };
    const check = async (one: Partial<MockVariants>) => {
      const given = { ...one, ...limits };
      const { values } = await learned(given, { organizations: [{ ...account, lists: [], contacts: [] }] });
      const shown = { ...values, v2DefaultLimit: expect.any(Number), v2MaxLimit: expect.any(Number) };
      expect(shownOf(given)).toMatchObject(shown);
    };
    await fc.assert(fc.asyncProperty(shownByGets, check), runs(100));
  });

  it("a failure of one answer makes it learn less, and nothing that is not true", async () => {
    const kinds: MockFaultKind[] = [
      ...(["500-before", "502-html", "503-retry-after", "429", "truncated-json", "wrong-json"] as const),
      ...(["wrong-content-type", "empty-body", "redirect", "reset-before"] as const),
    ];
    const fault = fc.record({ kind: fc.constantFrom(...kinds), after: fc.integer({ min: 0, max: 9 }) });
    const check = async (given: Partial<MockVariants>, one: { kind: MockFaultKind; after: number }) => {
      const faults = [{ ...one, times: 1, retryAfter: false as const }];
      // With two errors to compare, and a maximum that one page shows.
      const narrowed = { ...given, unknownGroupStatus: 404, v2MaxLimit: 100 };
      const found = await learned(narrowed, { faults }).catch((error: unknown) => {
        if (!isAudienceError(error) && !(error instanceof WebPageError)) throw error;
      });
      expect(shownOf(narrowed)).toMatchObject(found?.values ?? {});
    };
    await fc.assert(fc.asyncProperty(shownByGets, fault, check), runs(100));
  });
});
