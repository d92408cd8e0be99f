import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { MockAutomation, MockServiceOptions, MockVariants, MockWebhookFetch } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { acme } from "../document/service.ts";
import { entryPoints, inProcess, type EntryPoint } from "./entry-points.ts";

const url = "http://localhost:3000/hooks";
const email = "ada@example.com";
const now = "2026-01-31T00:00:00.000Z";
const thanks: MockAutomation = { name: "Thanks", on: { event: "order placed" }, webhook: { url } };
const hello: MockAutomation = { name: "Hello", on: { listId: "news" }, webhook: { url } };
const organization = { ...acme, contacts: [{ id: "ada", email, lists: ["news"] }] };

interface Scene extends Omit<MockServiceOptions, "organizations"> {
  /** What the receiver in this process responds. */
  respond?: () => Response;
  automations?: readonly MockAutomation[];
  entryPoint?: EntryPoint;
}

/** A mock with the automations, a receiver in this process, and an event that triggers "Thanks". */
async function scene({
  automations = [thanks],
  entryPoint = inProcess,
  respond = () => new Response(null, { status: 204 }),
  ...options
}: Scene) {
  const clock = () => Date.parse(now);
  const received: { url: string; method: string; type: string | null; body: unknown }[] = [];
  const webhookFetch: MockWebhookFetch = async (to, init) => {
    const request = new Request(to, init);
    const { method, headers } = request;
    received.push({ url: to, method, type: headers.get("content-type"), body: await request.json() });
    return respond();
  };
  const organizations = [{ ...organization, automations }];
  const open = await entryPoint.open({ organizations, clock, webhookFetch, ...options });
  onTestFinished(open.close);
  const order = (more: object = {}) =>
    open.call("/api/v1/events", { body: { eventName: "order placed", contact: { email }, ...more } });
  /** An order, once its calls have ended. */
  const settledOrder = async (more?: object) => {
    const { status } = await order(more);
    await open.mock.settled();
    return { status, calls: open.mock.organization("acme").webhookCalls };
  };
  return { ...open, received, order, settledOrder, calls: () => open.mock.organization("acme").webhookCalls };
}

/** A receiver on loopback. */
async function listening(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/hooks`;
}

describe.each(entryPoints)("a webhook step, $name", (entryPoint) => {
  it("calls its endpoint when the automation's event is recorded", async () => {
    const { mock, received, settledOrder } = await scene({ entryPoint });

    const { status, calls } = await settledOrder({ eventData: { total: 5 } });

    const [event] = mock.organization("acme").events;
    const [contact] = mock.organization("acme").contacts;
    const body = { automation: "Thanks", on: { event: "order placed" }, contact, event };
    expect(status).toBe(200);
    expect(received).toEqual([{ url, method: "POST", type: "application/json", body }]);
    const run = { automation: "Thanks", contactId: "ada", eventId: event?.id };
    expect(calls).toEqual([{ ...run, url, body, status: 204, sentAt: now }]);
    expect(mock.organization("acme").automationRuns).toEqual([
      { ...run, on: { event: "order placed" }, startedAt: now },
    ]);
  });

  it("calls its endpoint when a contact joins the automation's list, and not when it joins again", async () => {
    const { mock, received, call, calls } = await scene({ entryPoint, automations: [hello] });
    const add = () =>
      call("/api/v1/contact-groups/news/contacts", { body: { email: "bo@example.com", city: "Turin" } });

    await add();
    await add();
    await mock.settled();

    expect(received).toMatchObject([
      { body: { automation: "Hello", on: { listId: "news" }, contact: { city: "Turin" } } },
    ]);
    expect(received[0]?.body).not.toHaveProperty("event");
    for (const rows of [mock.organization("acme").automationRuns, calls()])
      expect(rows[0]).not.toHaveProperty("eventId");
  });
});

describe("a webhook step", () => {
  it("is not reached by a seed, by an event of another name, or by an event that is sent again", async () => {
    const { mock, received, settledOrder } = await scene({ automations: [thanks, hello] });

    await settledOrder({ eventName: "order cancelled" });
    await settledOrder({ uniqueIdentifier: "order-1" });
    await settledOrder({ uniqueIdentifier: "order-1" });

    expect(received).toHaveLength(1);
    expect(mock.organization("acme").automationRuns).toHaveLength(1);
  });

  it("calls its endpoint by the global fetch, and does not follow a redirect", async () => {
    const paths: (string | undefined)[] = [];
    const receiverUrl = await listening((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const automations = [{ ...thanks, webhook: { url: receiverUrl } }];
    const { settledOrder } = await scene({ automations, webhookFetch: undefined });

    const { calls } = await settledOrder();

    expect(paths).toEqual(["/hooks"]);
    expect(calls).toMatchObject([{ url: receiverUrl, status: 307 }]);
  });
});

describe("a receiver disturbs nothing else", () => {
  it.each<[string, (init: RequestInit) => unknown, string]>([
    [
      "rejects with a cause",
      () => Promise.reject(new TypeError("fetch failed", { cause: new Error("refused") })),
      "fetch failed: refused",
    ],
    [
      "throws",
      () => {
        throw new Error("out of order");
      },
      "out of order",
    ],
    ["gives no Response", () => Promise.resolve({ ok: true }), "no Response"],
    ["never responds", () => new Promise(() => {}), "no response within 5 ms"],
  ])("when it %s, the attempt has an error", async (_title, respond, error) => {
    // Safe: for that reason.
    const webhookFetch: MockWebhookFetch = (_url, init) => respond(init) as Promise<Response>;
    const { settledOrder } = await scene({ webhookFetch, variants: { webhookTimeoutMs: 5 } });

    const { status, calls } = await settledOrder();

    expect(status).toBe(200);
    expect(calls).toEqual([expect.objectContaining({ contactId: "ada", error, sentAt: now })]);
    expect(calls[0]).not.toHaveProperty("status");
    expect((await settledOrder()).status).toBe(200);
  });

  it("when its body never ends, the attempt has the status of its response", async () => {
    let cancel: () => void = () => {};
    const cancelled = new Promise<void>((resolve) => (cancel = resolve));
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(9)),
          cancel: () => {
            cancel();
            throw new Error("cannot be cancelled");
          },
        }),
      );
    const { settledOrder } = await scene({ respond: endless });

    const { calls } = await settledOrder();
    await cancelled;

    expect(calls).toMatchObject([{ status: 200 }]);
  });

  it("reset() ends its calls, and no further attempt follows", async () => {
    let attempts = 0;
    const webhookFetch = () => {
      attempts += 1;
      return new Promise<never>(() => {});
    };
    const { mock, order, calls } = await scene({ webhookFetch, variants: { webhookAttempts: 3 } });

    await order();
    const settled = mock.settled();
    mock.reset();
    await settled;

    expect(attempts).toBe(1);
    expect(calls()).toEqual([]);
  });
});

describe("the variants of a webhook call", () => {
  const bodyWith = async (webhookBody: MockVariants["webhookBody"]) => {
    const { settledOrder } = await scene({ variants: { webhookBody } });
    return (await settledOrder()).calls[0];
  };
  const flat = { automation: "Thanks", on: { event: "order placed" }, contact: { email }, event: {} };

  it.each<[MockVariants["webhookBody"], unknown]>([
    ["flat", flat],
    ["envelope", { type: "automation.webhook", data: flat }],
    ["contact", { id: "ada", email }],
    [({ automation, contact }) => [automation, contact.email], ["Thanks", email]],
  ])("webhookBody %s is its payload", async (webhookBody, body) => {
    expect(await bodyWith(webhookBody)).toMatchObject({ body, status: 204 });
  });

  it("a webhookBody that throws is the error of the attempt", async () => {
    const webhookBody = () => {
      throw new Error("no payload");
    };

    expect(await bodyWith(webhookBody)).toMatchObject({ body: undefined, error: "no payload" });
  });

  it.each(["PUT", "PATCH"] as const)("webhookMethod %s is its method", async (webhookMethod) => {
    const { received, settledOrder } = await scene({ variants: { webhookMethod } });

    await settledOrder();

    expect(received).toMatchObject([{ method: webhookMethod }]);
  });

  it.each([
    [1, [500], [500]],
    [3, [500, 302, 404], [500, 302, 404]],
    [3, [500, 204], [500, 204]],
  ])("webhookAttempts %i leads to the attempts until a 2xx: %j", async (webhookAttempts, statuses, seen) => {
    let attempt = 0;
    const respond = () => new Response(null, { status: statuses[attempt++] ?? 200 });
    const { received, settledOrder } = await scene({ respond, variants: { webhookAttempts } });

    const { calls } = await settledOrder();

    expect(calls.map(({ status }) => status)).toEqual(seen);
    expect(new Set(received.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

it('A receiver is called on another machine with the option webhooks: "anywhere"', async () => {
  const automations = [{ ...thanks, webhook: { url: "https://example.com/hooks" } }];
  const { received, settledOrder } = await scene({ automations, webhooks: "anywhere" });

  await settledOrder();

  expect(received).toMatchObject([{ url: "https://example.com/hooks" }]);
});

it("A mock that stands in for the global fetch does not call itself", async () => {
  const real = globalThis.fetch;
  onTestFinished(() => void (globalThis.fetch = real));
  const { mock, settledOrder } = await scene({ webhookFetch: undefined });
  globalThis.fetch = mock.fetch;

  const { calls } = await settledOrder();

  expect(calls).toMatchObject([{ error: expect.stringContaining("pass `webhookFetch`") }]);
  expect(mock.requests).toHaveLength(1);
});
