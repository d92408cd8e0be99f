// Reaches into src: the build writes the page, and no entry point holds the program that does so.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildPage } from "../../src/mock/page/build-page.ts";
import { PAGE, PAGE_CSP } from "../../src/mock/page/page-file.ts";
import type { PageNews, PageView } from "../../src/mock/page/page-view.ts";
import { acme, globex } from "../document/service.ts";
import { type Call, nodeHttp, type OpenEntryPoint } from "./entry-points.ts";

const email = "ada@example.com";
const upsert = "/api/v1/customer/create";
const addToNews = "/api/v1/contact-groups/news/contacts";
const order = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email } };

let answer: () => Promise<Response>;
/** Of the clock: how much it goes on each time it is read. */
let step: number;
let open: OpenEntryPoint;
beforeEach(async () => {
  let time = 1_000;
  step = 0;
  answer = () => Promise.resolve(new Response(null, { status: 204 }));
  open = await nodeHttp.open({
    organizations: [
      {
        ...acme,
        contacts: [],
        automations: [
          { name: "Hello", on: { listId: "news" } },
          { name: "Thanks", on: { event: "order placed" }, webhook: { url: "http://localhost:3000/hooks" } },
        ],
      },
      globex,
    ],
    rateLimits: [{ limit: 3, intervalMs: 10_000 }],
    clock: () => (time += step),
    webhookFetch: () => answer(),
  });
});
afterEach(() => open.close());

/** What the page is told. */
async function view(query: Record<string, string> = {}): Promise<PageView> {
  const { body } = await open.call(`/__mock/page?${new URLSearchParams(query).toString()}`);
  return body as PageView;
}

async function news(query: Record<string, string> = {}): Promise<PageNews> {
  const { news: found } = await view(query);
  if (found === undefined) throw new Error("there are no news");
  return found;
}

describe("Resubscriptions", () => {
  beforeEach(async () => {
    await open.call(upsert, { body: { email, email_opt_in: "UNSUBSCRIBED" } });
    await open.call(upsert, { body: { email, email_opt_in: "SUBSCRIBED" } });
  });

  it("are counted in their own organization, and marked at the request and the moment", async () => {
    const [{ resubscriptions, requests }, { contacts }] = [await news(), await news({ tab: "contacts" })];

    expect(resubscriptions).toBe(1);
    expect((await news({ organization: "globex" })).resubscriptions).toBe(0);
    expect(requests).toMatchObject([
      {
        number: 2,
        isResubscription: true,
        changes: [`${email}: email UNSUBSCRIBED → SUBSCRIBED (resubscription)`],
      },
      { number: 1, isResubscription: false },
    ]);
    expect(contacts).toMatchObject([{ history: [{ isResubscription: true }, { isResubscription: false }] }]);
  });

  it.each<[Record<string, string>, number[]]>([
    [{ resubscriptions: "on" }, [2]],
    [{ status: "2xx" }, [2, 1]],
    [{ status: "4xx" }, [4, 3]],
    [{ status: "429" }, [4]],
    [{ operation: "v1.events.send" }, [4]],
    [{ operation: "v1.customers.upsert", status: "4xx" }, [3]],
    [{ find: "SUBSCRIBED", resubscriptions: "on", status: "2xx" }, [2]],
  ])("and other requests are found by %j", async (query, numbers) => {
    await open.call(upsert, { body: { emial: email } });
    await open.call("/api/v1/events", { body: order });

    expect((await news(query)).requests).toMatchObject(numbers.map((number) => ({ number })));
  });
});

it("Requests are found whatever their age; the page shows the latest 500, says so, and forgets only the responses of older ones", async () => {
  open.mock.addFault({ kind: "500-before", times: 1 });
  const sendBob = (email_opt_in: string) =>
    open.call(upsert, { body: { email: "bob@example.com", email_opt_in } });
  await sendBob("UNSUBSCRIBED");
  await sendBob("UNSUBSCRIBED");
  await sendBob("SUBSCRIBED");
  for (let number = 4; number <= 503; number += 1)
    await open.mock.fetch("https://audience-mock.example/v2/lists");
  const { requests, note, counts } = await news();

  expect([requests?.[0]?.number, requests?.length, counts.requests]).toEqual([503, 500, 503]);
  expect(note).toBe("The latest 500 of 503 are shown. The search looks through all of them.");
  for (const [query, numbers] of [
    [{ resubscriptions: "on" }, [3]],
    [{ operation: "v1.customers.upsert", status: "2xx" }, [3, 2]],
    [{ find: "bob@example.com" }, [3, 2, 1]],
  ] as const) {
    const found = await news(query);
    expect(found.requests?.map(({ number }) => number)).toEqual(numbers);
    expect(found).not.toHaveProperty("note");
  }
  const attempts = (await news({ find: "bob" })).requests?.map(({ attempt }) => attempt);
  expect(attempts).toEqual([1, 2, 1]);
  const responseOf = async (number: number) =>
    ((await open.call(`/__mock/requests/${number}`)).body as { response?: unknown }).response;
  expect([await responseOf(1), await responseOf(3)]).toEqual([undefined, "forgotten"]);
  expect(await responseOf(4)).toMatchObject({ status: 401 });
});

it("After a reset a request is a first try, also if it hung before", async () => {
  const send = () => open.mock.fetch("https://audience-mock.example/v2/lists");
  open.mock.addFault({ kind: "hang" });
  const hanging = send();
  open.mock.reset();
  await hanging.catch(() => undefined);
  await send();

  expect((await news()).requests).toMatchObject([{ status: 401, attempt: 1 }]);
});

describe("The root is", () => {
  const root = (accept: string) => open.call("/", { headers: { accept } });

  it("a page for a browser, in one file of at most 40 kB that needs nothing from elsewhere", async () => {
    const { status, headers, body } = await root("text/html,application/xhtml+xml,*/*;q=0.8");

    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("vary")).toBe("accept");
    expect(Buffer.byteLength(String(body))).toBeLessThanOrEqual(40_000);
    expect(body).not.toMatch(/https?:\/\/(?!\$)|innerHTML|outerHTML|insertAdjacentHTML|eval\(/);
  });

  it.each(["*/*", "text/plain", ""])("text for %j", async (accept) => {
    const { headers } = await root(accept);

    expect(headers.get("content-type")).toMatch(/^text\/plain/);
    expect(headers.get("vary")).toBe("accept");
  });
});

it("The page is the one that its parts build", async () => {
  const built = await buildPage();

  expect(built).toContain(`export const PAGE = ${JSON.stringify(PAGE)};`);
  expect(built).toContain(JSON.stringify(PAGE_CSP));
});

describe("The page is told", () => {
  it("nothing but the limits, if nothing is newer than what it shows", async () => {
    const { version } = await view();
    const again = await view({ since: version });

    expect(again).toEqual({ version, gauges: [{ limit: 3, intervalMs: 10_000, used: 0, waitMs: 0 }] });
    open.mock.addFault({ kind: "500-before" });
    expect((await view({ since: version })).news?.faults).toHaveLength(1);
  });

  it("how much of each window the caller has used who has used most, and when the next permit is due", async () => {
    await open.mock.fetch("https://audience-mock.example/api/v1/contact-groups");
    for (let number = 1; number <= 4; number += 1) await open.call("/v2/lists");

    expect((await view()).gauges).toEqual([{ limit: 3, intervalMs: 10_000, used: 3, waitMs: 10_000 }]);
  });

  it("the requests of the organization, newest first, each with its verdict", async () => {
    open.mock.addFault({ kind: "reset-after", times: 1 });
    await open.call(addToNews, { body: { email, email_opt_in: "SUBSCRIBED" } }).catch(() => undefined);
    await open.call(addToNews, { body: { email, email_opt_in: "SUBSCRIBED" } });
    await open.call("/v2/lists", { headers: { "service-api-key": "wrong" } });
    const { requests } = await news();

    expect(requests).toMatchObject([
      { operation: "v2.lists.list", person: "", status: 401, refusedFor: expect.stringContaining("key") },
      { person: email, status: 200, applied: true, attempt: 2, changes: [] },
      { person: email, fault: "reset-after", applied: true, attempt: 1, hasEnded: true, durationMs: 0 },
    ]);
    expect(requests?.[2]?.changes).toContain(`${email}: joined the list Newsletter`);
  });

  it("events, each with the automations and calls that it started, whatever its person's others did and the clock shows", async () => {
    const statuses = [201, 404, 503];
    answer = () => Promise.resolve(new Response(null, { status: statuses.shift()! }));
    const send = async (uniqueIdentifier: string) => {
      await open.call("/api/v1/events", { body: { ...order, uniqueIdentifier } });
      await open.mock.settled();
    };
    await send("order-1");
    await send("order-2");
    step = 1;
    await send("order-3");
    const { events } = await news({ tab: "events" });

    const started = (status: number) => [{ name: "Thanks", calls: [expect.objectContaining({ status })] }];
    expect(events?.map(({ automations }) => automations)).toEqual([started(503), started(404), started(201)]);
  });

  it("contacts, with consent per channel, its history, their lists and what happened to them", async () => {
    await open.call(addToNews, { body: { email, email_opt_in: "SUBSCRIBED" } });
    await open.call("/api/v1/events", { body: order });
    await open.mock.settled();
    open.mock.unsubscribe(email);
    const { contacts } = await news({ tab: "contacts" });

    const since = "1970-01-01T00:00:01.000Z";
    expect(contacts).toMatchObject([
      {
        contact: { email },
        lists: ["Newsletter"],
        consents: [{ channel: "email", state: "UNSUBSCRIBED", before: "SUBSCRIBED", since }],
        history: [
          { text: "email SUBSCRIBED → UNSUBSCRIBED, by the person" },
          { text: "email SUBSCRIBED, by v1.contactGroups.addContact" },
        ],
      },
    ]);
    expect(contacts?.[0]?.timeline.map(({ text }) => text).sort()).toEqual([
      "automation Hello",
      "automation Thanks",
      "event order placed",
      "joined the list Newsletter",
      "webhook http://localhost:3000/hooks: 204",
    ]);
  });
});

const details = async (number: number) =>
  (await open.call(`/__mock/requests/${number}`)).body as { stances: unknown; response?: unknown };

it("A request, opened, has what was sent without keys, the response, the verdict and what it changed", async () => {
  await open.call(upsert, { body: { email }, headers: { authorization: "Bearer s3cret", "x-trace": "1" } });
  const text = JSON.stringify(await details(1));

  expect(await details(1)).toMatchObject({
    method: "POST",
    path: upsert,
    query: "",
    body: { email },
    headers: expect.arrayContaining([
      ["x-api-key", "(not shown)"],
      ["authorization", "(not shown)"],
      ["x-trace", "1"],
    ]),
    response: { status: 201, headers: [], body: { data: { type: "profile" } } },
    changes: [`${email}: created`, `${email}: email NON_SUBSCRIBED`],
    stances: [],
  });
  expect(text).not.toMatch(/s3cret|acme-mock-key/);
});

describe("Over HTTP", () => {
  it("faults are listed, and removed one by one or all at once", async () => {
    const headers = { "content-type": "application/json" };
    const remove = (id = "") => open.call(`/__mock/faults${id}`, { method: "DELETE", headers });
    const added = await open.call("/__mock/faults", { body: { kind: "500-before", times: 1 } });
    await open.call("/__mock/faults", { body: { kind: "hang", operation: "v1.events.send" } });
    await open.call("/v2/lists");
    const { body } = await open.call("/__mock/faults");

    expect(added.body).toEqual({ added: true, id: 1 });
    expect(body).toEqual([
      { id: 1, kind: "500-before", times: 1, matched: 1 },
      { id: 2, kind: "hang", operation: "v1.events.send", matched: 0 },
    ]);
    expect((await remove("/3")).status).toBe(404);
    expect((await remove("/1")).body).toEqual({ removed: true });
    expect((await news()).faults).toMatchObject([{ id: 2 }]);
    await remove();
    expect((await news()).faults).toEqual([]);
  });

  it("the root is text for a program: what it is, the environment of a client, and every path", async () => {
    const { body } = await open.call("/");

    expect(body).toContain("the mock of the audience service");
    expect(body).toContain(`export AUDIENCE_BASE_URL=${open.options.baseUrl}\n`);
    expect(body).toMatch(
      / {2}POST \/api\/v1\/contact-groups\/\{listId\}\/contacts +v1\.contactGroups\.addContact\n/,
    );
    for (const path of ["organizations/", "requests", "settled", "faults", "reset"])
      expect(body).toContain(` /__mock/${path}`);
  });

  it("the state is read by the id or a key of its organization, and the log, neither of them logged", async () => {
    await open.call(upsert, { body: { email } });
    const { body } = await open.call("/__mock/requests");

    for (const name of ["acme", "acme-mock-key"])
      expect((await open.call(`/__mock/organizations/${name}`)).body).toEqual(open.mock.organization("acme"));
    expect(body).toMatchObject([{ operation: "v1.customers.upsert", body: { email }, status: 201 }]);
    expect(body).toHaveLength(1);
  });

  it("a person unsubscribes, asks again and confirms", async () => {
    await open.call(upsert, { body: { email, email_opt_in: "SUBSCRIBED", double_opt_in: true } });
    const does = async (path: string) => {
      const { body } = await open.call(`/__mock/${path}`, { body: { person: email, organization: "acme" } });
      return [body, open.mock.organization("acme").contacts[0]?.email_opt_in];
    };

    expect(await does("unsubscribe")).toEqual([{ unsubscribed: true }, "UNSUBSCRIBED"]);
    await open.call(upsert, { body: { email, email_opt_in: "NON_SUBSCRIBED" } });
    expect(await does("asks-again")).toEqual([{ asksAgain: true }, "NON_SUBSCRIBED"]);
    expect(await does("confirm")).toEqual([{ confirmed: true }, "SUBSCRIBED"]);
    const { body } = await open.call("/__mock/resubscriptions");
    expect(body).toMatchObject([{ from: "UNSUBSCRIBED", to: "NON_SUBSCRIBED" }]);
  });

  it.each<[string, Call, string]>([
    ["organizations/initech", {}, "there are: acme, globex"],
    ["faults", { body: { kind: "explode" } }, "fault.kind must be one of"],
    ["faults", { rawBody: "{" }, "the body must be JSON, such as {"],
    ["unsubscribe", { body: { person: "bob@example.com" } }, 'is \\"bob@example.com\\"'],
    ["confirm", { body: {} }, "person must be a string"],
  ])("/__mock/%s with %j is refused with a reason", async (path, call, reason) => {
    const { status, body } = await open.call(`/__mock/${path}`, call);

    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(reason);
  });
});
