import { AudienceClient, isAudienceError, type AudienceError, type ClientOptions } from "audience-sdk";
import type { MockBooks, MockFault, MockService } from "audience-sdk/mock";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { callKinds, comparableMock, type CallKind } from "./calls.ts";
import { refusedUrl } from "./served.ts";

type RealFetch = (url: string, init: RequestInit) => Promise<Response>;

/** One thing that goes wrong with an attempt. */
interface Failure {
  readonly name: string;
  /** Which column of the retry table it stands in. */
  readonly column: "nothing was sent" | "no full answer, or 5xx" | "429" | "unreadable 2xx";
  /** Whether a write that it strikes is carried out. */
  readonly applies: boolean;
  readonly fault?: () => MockFault;
  /** Where the mock has no such fault: the fetch that strikes. */
  readonly strike?: (url: string, init: RequestInit) => Promise<Response>;
}

let refused = "";
const lost = "no full answer, or 5xx";

const failures: readonly Failure[] = [
  {
    name: "refused",
    column: "nothing was sent",
    applies: false,
    strike: (url, init) => fetch(refused + new URL(url).pathname, init),
  },
  { name: "reset before", column: lost, applies: false, fault: () => ({ kind: "reset-before" }) },
  { name: "reset after", column: lost, applies: true, fault: () => ({ kind: "reset-after" }) },
  { name: "hang", column: lost, applies: true, fault: () => ({ kind: "hang" }) },
  { name: "500 before", column: lost, applies: false, fault: () => ({ kind: "500-before" }) },
  { name: "500 after", column: lost, applies: true, fault: () => ({ kind: "500-after" }) },
  { name: "502 HTML", column: lost, applies: true, fault: () => ({ kind: "502-html" }) },
  {
    name: "503 with Retry-After",
    column: lost,
    applies: false,
    fault: () => ({ kind: "503-retry-after", retryAfter: 1 }),
  },
  {
    name: "503 without",
    column: lost,
    applies: false,
    fault: () => ({ kind: "503-retry-after", retryAfter: false }),
  },
  {
    name: "408",
    column: lost,
    applies: true,
    strike: async (url, init) => {
      await (await currentFetch(url, init)).text();
      return new Response("", { status: 408 });
    },
  },
  { name: "429 in seconds", column: "429", applies: false, fault: () => ({ kind: "429", retryAfter: 1 }) },
  {
    name: "429 by a date",
    column: "429",
    applies: false,
    fault: () => ({ kind: "429", retryAfter: new Date(Date.now() + 2_000) }),
  },
  {
    name: "429 without Retry-After",
    column: "429",
    applies: false,
    fault: () => ({ kind: "429", retryAfter: false }),
  },
  {
    name: "truncated JSON",
    column: "unreadable 2xx",
    applies: true,
    fault: () => ({ kind: "truncated-json" }),
  },
];

let currentFetch: RealFetch = (url, init) => fetch(url, init);

/** Contract, "Retries": the table. */
function isRetried({ kind }: CallKind, { column }: Failure): boolean {
  if (column === "unreadable 2xx") return false;
  return column !== lost || kind !== "unrepeatable write";
}

/** `events.send` takes any 2xx for what it is, as its answer is not documented. */
function succeedsAtOnce({ kind }: CallKind, { column }: Failure): boolean {
  return column === "unreadable 2xx" && kind === "event";
}

/** What the error of one or more attempts that all failed so says of the write. */
function outcomeOf({ kind }: CallKind, { column }: Failure): string {
  if (column === "nothing was sent") return "not-sent";
  return column === "429" || kind === "read" ? "not-applied" : "unknown";
}

interface Ending {
  readonly error: AudienceError | undefined;
  readonly attempts: number | undefined;
  readonly result: unknown;
}

async function ending(call: ReturnType<CallKind["call"]>): Promise<Ending> {
  try {
    const { data, attempts } = await call.withResponse();
    return { error: undefined, attempts, result: data };
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    return { error, attempts: error.request?.attempts, result: undefined };
  }
}

/** An event's generated id differs from run to run; that each attempt carries the same one is looked at by itself. */
function comparable(books: MockBooks): unknown {
  return { ...books, events: books.events.map((event) => ({ ...event, uniqueIdentifier: "" })) };
}

/** The books after the call was carried out once, and before. */
async function reference(kind: CallKind): Promise<{ once: unknown; never: unknown }> {
  const mock = comparableMock();
  const never = comparable(mock.organization("org"));
  await kind.call(new AudienceClient(mock.clientOptions));
  return { once: comparable(mock.organization("org")), never };
}

function identifiersSent(mock: MockService): unknown[] {
  return mock.requests.map(
    ({ body }) => (body as { uniqueIdentifier?: unknown } | undefined)?.uniqueIdentifier,
  );
}

function expectOneIdentifier(kind: CallKind, mock: MockService, { error, result }: Ending): void {
  if (kind.kind !== "event") return expect(error?.uniqueIdentifier).toBeUndefined();
  const identifier = error
    ? error.uniqueIdentifier
    : (result as { uniqueIdentifier: string }).uniqueIdentifier;
  expect(identifier).toEqual(expect.stringMatching(/.{8,}/));
  expect(new Set([identifier, ...identifiersSent(mock)]).size).toBe(1);
}

const cells = callKinds.flatMap((kind) => failures.map((failure) => ({ kind, failure })));
const named = cells.map((cell) => [cell.kind.name, cell.failure.name, cell] as const);

beforeAll(async () => {
  refused = await refusedUrl();
});

describe("Over real sockets, where one attempt fails and the service then recovers", () => {
  const endings = new Map<object, { mock: MockService; end: Ending }>();

  // All at once, as each waits for its backoff: one after the other they would take minutes.
  beforeAll(async () => {
    await Promise.all(
      cells.map(async (cell) => {
        const { kind, failure } = cell;
        const mock = comparableMock();
        if (failure.fault) mock.addFault({ ...failure.fault(), times: 1 });
        const { clientOptions, close } = await mock.listen();
        let count = 0;
        const own: RealFetch = (url, init) =>
          count++ === 0 && failure.strike ? failure.strike(url, init) : fetch(url, init);
        const audience = new AudienceClient({
          ...clientOptions,
          fetch: own,
          // Of the second attempt too, which is to come in time however busy the machine is.
          timeoutMs: failure.name === "hang" ? 5_000 : 15_000,
        });
        endings.set(cell, { mock, end: await ending(kind.call(audience)) });
        await close();
      }),
    );
  });

  it.each(named)(
    "%s × %s: attempts, outcome, and books of one application",
    async (_kind, _failure, cell) => {
      const { kind, failure } = cell;
      const { mock, end } = endings.get(cell) ?? expect.fail("the cell was not run");
      const { once, never } = await reference(kind);

      if (isRetried(kind, failure) || succeedsAtOnce(kind, failure)) {
        expect(end.error).toBeUndefined();
        expect(comparable(mock.organization("org"))).toEqual(once);
      } else {
        expect(end.error).toMatchObject({ outcome: outcomeOf(kind, failure) });
        expect(comparable(mock.organization("org"))).toEqual(failure.applies ? once : never);
      }
      const attempts = isRetried(kind, failure) ? 2 : 1;
      expect(end.attempts).toBe(attempts);
      expect(mock.requests).toHaveLength(failure.name === "refused" ? attempts - 1 : attempts);
      expectOneIdentifier(kind, mock, end);
    },
  );
});

describe("Where every attempt fails", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const refusal = () =>
    Promise.reject(
      new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) }),
    );

  it.each(named)(
    "%s × %s: five attempts or one, the outcome over all, and no second application",
    async (_kind, _failure, cell) => {
      const { kind, failure } = cell;
      const { once, never } = await reference(kind);
      const mock = comparableMock();
      if (failure.fault)
        mock.addFault(failure.name === "429 by a date" ? { kind: "429", retryAfter: 2 } : failure.fault());
      currentFetch = mock.fetch;
      const own: ClientOptions["fetch"] =
        failure.name === "refused" ? refusal : (failure.strike ?? mock.fetch);
      const audience = new AudienceClient({ ...mock.clientOptions, fetch: own, timeoutMs: 1_000 });

      const pending = ending(kind.call(audience));
      await vi.advanceTimersByTimeAsync(60_000);
      const end = await pending;

      const attempts = isRetried(kind, failure) ? 5 : 1;
      expect(end.attempts).toBe(attempts);
      expect(mock.requests).toHaveLength(failure.name === "refused" ? 0 : attempts);
      if (!succeedsAtOnce(kind, failure))
        expect(end.error).toMatchObject({ outcome: outcomeOf(kind, failure) });
      const books = comparable(mock.organization("org"));
      expect(books).toEqual(failure.applies ? once : never);
      expectOneIdentifier(kind, mock, end);
    },
  );
});

describe("The option repeatable", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const unrepeatable = callKinds.filter(({ kind }) => kind === "unrepeatable write");
  const repeatable = callKinds.filter(({ kind }) => kind !== "unrepeatable write");

  it.each(unrepeatable.map((kind) => [kind.name, kind] as const))(
    "true lets %s be sent again",
    async (_, kind) => {
      const mock = comparableMock({ faults: [{ kind: "reset-after", times: 1 }] });

      const pending = ending(kind.call(new AudienceClient(mock.clientOptions), { repeatable: true }));
      await vi.advanceTimersByTimeAsync(5_000);

      expect(await pending).toMatchObject({ error: undefined, attempts: 2 });
      expect(mock.requests.map(({ applied }) => applied)).toEqual([true, true]);
    },
  );

  it.each(repeatable.map((kind) => [kind.name, kind] as const))(
    "false keeps %s from being sent again",
    async (_, kind) => {
      const mock = comparableMock({ faults: [{ kind: "500-before", times: 1 }] });

      const { error } = await ending(
        kind.call(new AudienceClient(mock.clientOptions), { repeatable: false }),
      );

      expect(error).toMatchObject({ status: 500, request: { attempts: 1 } });
      expect(mock.requests).toHaveLength(1);
    },
  );

  it.each([
    [
      "a refused connection",
      async () => Promise.reject(new TypeError("x", { cause: { code: "ECONNREFUSED" } })),
    ],
    ["a 429", async () => new Response("{}", { status: 429 })],
  ])("false does not keep a call from being sent again after %s, as that did nothing", async (_, fails) => {
    const mock = comparableMock();
    let count = 0;
    const own = async (url: string, init: RequestInit) => (count++ === 0 ? fails() : mock.fetch(url, init));
    const audience = new AudienceClient({ ...mock.clientOptions, fetch: own });

    const pending = audience.v1.customers.list({}, { repeatable: false });
    const page = pending.then(({ items }) => items);
    await vi.advanceTimersByTimeAsync(5_000);

    expect(await page).toHaveLength(1);
    expect(count).toBe(2);
  });
});

it("What is sent again is the same to the byte", async () => {
  vi.useFakeTimers();
  const mock = comparableMock({ faults: [{ kind: "500-before", times: 4 }] });
  const sent: string[] = [];
  const own = (url: string, init: RequestInit) => {
    sent.push(JSON.stringify([url, init.method, init.headers, init.body]));
    return mock.fetch(url, init);
  };
  const event = {
    eventName: "order placed",
    contact: { email: "ada@example.com" },
    eventData: { total: 42 },
  };

  const pending = new AudienceClient({ ...mock.clientOptions, fetch: own }).v1.events.send(event);
  // What the caller does with its object afterwards changes nothing.
  event.eventData.total = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  await pending;
  vi.useRealTimers();

  expect(sent).toHaveLength(5);
  expect(new Set(sent).size).toBe(1);
  expect(mock.organization("org").events).toMatchObject([{ eventData: { total: 42 } }]);
});
