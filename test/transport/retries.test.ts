import { AudienceClient, type AudienceError, type ClientOptions, isAudienceError } from "audience-sdk";
import type { MockFault, MockOrganizationState, MockService } from "audience-sdk/mock";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { type CallKind, callKinds, comparableMock, refusedUrl, useFakeTime, within } from "./fixture.ts";

type RealFetch = (url: string, init: RequestInit) => Promise<Response>;

/** A failure of an attempt. */
interface Failure {
  readonly name: string;
  /** Its column in the retry table. */
  readonly column: "nothing was sent" | "no full answer, or 5xx" | "429" | "unreadable 2xx";
  /** Whether a write with this failure is carried out. */
  readonly applies: boolean;
  readonly fault?: MockFault;
  /** A fetch that fails in this way, if the mock has no such fault. */
  readonly fail?: RealFetch;
}

let refused = "";
let currentFetch: RealFetch = (url, init) => fetch(url, init);

const fromRefusedPort: RealFetch = (url, init) => fetch(refused + new URL(url).pathname, init);
const with408: RealFetch = async (url, init) => {
  await (await currentFetch(url, init)).text();
  return new Response("", { status: 408 });
};
const lost = "no full answer, or 5xx";
const late = { kind: "503-retry-after", retryAfter: 1 } as const;

const failures: readonly Failure[] = [
  { name: "refused", column: "nothing was sent", applies: false, fail: fromRefusedPort },
  { name: "reset before", column: lost, applies: false, fault: { kind: "reset-before" } },
  { name: "reset after", column: lost, applies: true, fault: { kind: "reset-after" } },
  { name: "hang", column: lost, applies: true, fault: { kind: "hang" } },
  { name: "500 before", column: lost, applies: false, fault: { kind: "500-before" } },
  { name: "500 after", column: lost, applies: true, fault: { kind: "500-after" } },
  { name: "502 HTML", column: lost, applies: true, fault: { kind: "502-html" } },
  { name: "503 with Retry-After", column: lost, applies: false, fault: late },
  { name: "503 without", column: lost, applies: false, fault: { ...late, retryAfter: false } },
  { name: "408", column: lost, applies: true, fail: with408 },
  { name: "429 with Retry-After", column: "429", applies: false, fault: { kind: "429", retryAfter: 1 } },
  { name: "429 without", column: "429", applies: false, fault: { kind: "429", retryAfter: false } },
  { name: "truncated JSON", column: "unreadable 2xx", applies: true, fault: { kind: "truncated-json" } },
];

/** Contract, "Retries": the table. */
function isRetried({ kind }: CallKind, { column }: Failure): boolean {
  if (column === "unreadable 2xx") return false;
  return column !== lost || kind !== "unrepeatable write";
}

/** `events.send` accepts any 2xx, because its response is not documented. */
function succeedsAtOnce({ kind }: CallKind, { column }: Failure): boolean {
  return column === "unreadable 2xx" && kind === "event";
}

/** The outcome of a write whose attempts all failed in this way. */
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

/** Removes the generated id of an event, which differs between runs. Another assertion compares the ids of the attempts. */
function comparable(state: MockOrganizationState): unknown {
  return { ...state, events: state.events.map((event) => ({ ...event, uniqueIdentifier: "" })) };
}

/** The states of the mock after the call was carried out once, and before. */
async function reference(kind: CallKind): Promise<{ once: unknown; never: unknown }> {
  const mock = comparableMock();
  const never = comparable(mock.organization("org"));
  await kind.call(new AudienceClient(mock.clientOptions));
  return { once: comparable(mock.organization("org")), never };
}

function expectOneIdentifier(kind: CallKind, mock: MockService, { error, result }: Ending): void {
  if (kind.kind !== "event") return expect(error?.uniqueIdentifier).toBeUndefined();
  const identifier = error
    ? error.uniqueIdentifier
    : (result as { uniqueIdentifier: string }).uniqueIdentifier;
  expect(identifier).toEqual(expect.stringMatching(/.{8,}/));
  const sent = mock.requests.map(({ body }) => (body as { uniqueIdentifier: unknown }).uniqueIdentifier);
  expect(new Set([identifier, ...sent]).size).toBe(1);
}

/** The first call of each kind after every failure, and the other calls after one that is not known to be applied. */
const cells = callKinds.flatMap((kind, at) => {
  const isFirst = callKinds.findIndex((other) => other.kind === kind.kind) === at;
  return failures
    .filter(({ name }) => isFirst || name === "reset after")
    .map((failure) => ({ kind, failure }));
});
const named = cells.map((cell) => [cell.kind.name, cell.failure.name, cell] as const);

beforeAll(async () => {
  refused = await refusedUrl();
});

describe("After one failed attempt over a real socket", () => {
  const endings = new Map<object, { mock: MockService; end: Ending }>();

  // All cases run at once, because each waits for its backoff: in sequence they would take minutes.
  beforeAll(async () => {
    await Promise.all(
      cells.map(async (cell) => {
        const { kind, failure } = cell;
        const mock = comparableMock();
        if (failure.fault) mock.addFault({ ...failure.fault, times: 1 });
        const { clientOptions, close } = await mock.listen();
        let count = 0;
        const own: RealFetch = (url, init) =>
          count++ === 0 && failure.fail ? failure.fail(url, init) : fetch(url, init);
        const audience = new AudienceClient({
          ...clientOptions,
          fetch: own,
          // This also applies to the second attempt, which must succeed on a busy machine, too.
          timeoutMs: failure.name === "hang" ? 5_000 : 15_000,
        });
        endings.set(cell, { mock, end: await ending(kind.call(audience)) });
        await close();
      }),
    );
  });

  it.each(named)(
    "%s × %s: attempts, outcome, and the state after one application",
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

describe("If every attempt fails", () => {
  useFakeTime();

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
      if (failure.fault) mock.addFault(failure.fault);
      currentFetch = mock.fetch;
      const own: ClientOptions["fetch"] = failure.name === "refused" ? refusal : (failure.fail ?? mock.fetch);
      const audience = new AudienceClient({ ...mock.clientOptions, fetch: own, timeoutMs: 1_000 });

      const end = await within(60_000, ending(kind.call(audience)));

      const attempts = isRetried(kind, failure) ? 5 : 1;
      expect(end.attempts).toBe(attempts);
      expect(mock.requests).toHaveLength(failure.name === "refused" ? 0 : attempts);
      if (!succeedsAtOnce(kind, failure))
        expect(end.error).toMatchObject({ outcome: outcomeOf(kind, failure) });
      const state = comparable(mock.organization("org"));
      expect(state).toEqual(failure.applies ? once : never);
      expectOneIdentifier(kind, mock, end);
    },
  );
});

describe("The option repeatable", () => {
  useFakeTime();

  const unrepeatable = callKinds.filter(({ kind }) => kind === "unrepeatable write");
  const repeatable = callKinds.filter(({ kind }) => kind !== "unrepeatable write");

  it.each(unrepeatable.map((kind) => [kind.name, kind] as const))(
    "true allows %s to be retried",
    async (_, kind) => {
      const mock = comparableMock({ faults: [{ kind: "reset-after", times: 1 }] });

      expect(
        await within(5_000, ending(kind.call(new AudienceClient(mock.clientOptions), { repeatable: true }))),
      ).toMatchObject({ error: undefined, attempts: 2 });
      expect(mock.requests.map(({ applied }) => applied)).toEqual([true, true]);
    },
  );

  it.each(repeatable.map((kind) => [kind.name, kind] as const))(
    "false prevents a retry of %s",
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
  ])("false does not prevent a retry after %s, because nothing was applied", async (_, fails) => {
    const mock = comparableMock();
    let count = 0;
    const own = async (url: string, init: RequestInit) => (count++ === 0 ? fails() : mock.fetch(url, init));
    const audience = new AudienceClient({ ...mock.clientOptions, fetch: own });

    const pending = audience.v1.customers.list({}, { repeatable: false });

    expect(
      await within(
        5_000,
        pending.then(({ items }) => items),
      ),
    ).toHaveLength(1);
    expect(count).toBe(2);
  });
});

describe("The backoff doubles from half a second to thirty seconds, half of it at random", () => {
  useFakeTime();

  it.each([
    ["shortest", 0, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
    ["longest", 1, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
  ])("at its %s", async (_, random, expected) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const waits: unknown[] = [];
    const hooks = { onRetry: ({ waitMs }: { waitMs?: number }) => void waits.push(waitMs) };
    const { clientOptions } = comparableMock({ faults: [{ kind: "500-before" }] });
    const audience = new AudienceClient({ ...clientOptions, hooks, maxRetries: expected.length });

    expect(await within(200_000, failureOf(audience.v1.customers.get("contact-1")))).toMatchObject({
      status: 500,
      request: { attempts: expected.length + 1 },
    });
    expect(waits).toEqual(expected);
  });
});

it("A retried body is byte-identical", async () => {
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
  // Later changes to the object have no effect.
  event.eventData.total = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  await pending;

  expect(sent).toHaveLength(5);
  expect(new Set(sent).size).toBe(1);
  expect(mock.organization("org").events).toMatchObject([{ eventData: { total: 42 } }]);
});
