import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, tracingChannel, unsubscribe } from "node:diagnostics_channel";
import { AudienceClient, RateLimiter, type RequestEvent } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";

interface Span {
  readonly name: string;
  readonly parent: Span | undefined;
}

const callerCount = 300;
const lists = Array.from({ length: 6 }, (_, at) => ({ id: `list-${at}`, name: `List ${at}` }));

it("Of 300 concurrent calls with retries and pages, each request has its own attempt, call and caller as parents", async () => {
  const spans = new AsyncLocalStorage<Span>();
  bindSpans(spans);
  const seen = recordRequests(spans);
  const mock = createMockService({
    organizations: [{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app", lists }],
    faults: [{ kind: "500-before", probability: 0.05 }],
  });
  const server = await mock.listen();
  onTestFinished(server.close);
  const rateLimiter = new RateLimiter({ windows: [{ limit: 50, intervalMs: 10 }] });
  const { v1 } = new AudienceClient({ ...server.clientOptions, rateLimiter, maxRetries: 20 });

  const callers = Array.from({ length: callerCount }, (_, caller) =>
    spans.run({ name: `caller ${caller}`, parent: undefined }, async () => {
      const headers = { "x-caller": String(caller) };
      if (caller % 10 === 0) return await v1.contactGroups.list({ limit: 2 }, { headers }).toArray();
      const contact = { email: `caller${caller}@example.com`, email_opt_in: "SUBSCRIBED" } as const;
      return await v1.customers.upsert(contact, { headers });
    }),
  );
  await Promise.all(callers);

  const wrong = seen.filter(({ caller, lineage }) => !lineage.startsWith(`/caller ${caller}/call `));
  expect(wrong).toEqual([]);
  // Each listing has three pages, and about one request in twenty is repeated.
  const calls = new Set(seen.map(({ lineage }) => lineage.replace(/\/attempt \d+$/, "")));
  expect(calls.size).toBe(270 + 3 * 30);
  expect(seen.length).toBeGreaterThan(calls.size + 5);
  expect(new Set(seen.map(({ lineage }) => lineage)).size).toBe(seen.length);
  expect(seen).toHaveLength(mock.requests.length);
});

/** A tracer: each call and each attempt is a child span of the current one. */
function bindSpans(spans: AsyncLocalStorage<Span>): void {
  let calls = 0;
  const names = {
    "audience-sdk:call": () => `call ${++calls}`,
    "audience-sdk:request": ({ attempt }: RequestEvent) => `attempt ${attempt}`,
  };
  for (const [channel, nameOf] of Object.entries(names)) {
    const { start } = tracingChannel<Span, RequestEvent>(channel);
    start.bindStore(spans, (message) => ({ name: nameOf(message), parent: spans.getStore() }));
    onTestFinished(() => void start.unbindStore(spans));
  }
}

/** What an instrumentation of the runtime's `fetch` finds: the spans around each request, which names its caller. */
function recordRequests(spans: AsyncLocalStorage<Span>): { caller: string | undefined; lineage: string }[] {
  const seen: { caller: string | undefined; lineage: string }[] = [];
  const onRequest = (message: unknown) => {
    const { request } = message as { request: { headers: string | string[] } };
    seen.push({
      caller: /x-caller\W+(\d+)/.exec(String(request.headers))?.[1],
      lineage: lineageOf(spans.getStore()),
    });
  };
  subscribe("undici:request:create", onRequest);
  onTestFinished(() => void unsubscribe("undici:request:create", onRequest));
  return seen;
}

function lineageOf(span: Span | undefined): string {
  return span === undefined ? "" : `${lineageOf(span.parent)}/${span.name}`;
}
