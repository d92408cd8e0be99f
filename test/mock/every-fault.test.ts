import { AudienceClient, isAudienceError } from "audience-sdk";
import { everyFault, FaultFound, type MockOrganizationState, type MockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";

const KINDS = 16;
const clientOf = (mock: MockService) => new AudienceClient(mock.clientOptions).v1;
const stateOf = (mock: MockService): MockOrganizationState => mock.organization("mock-organization");
const orders = [
  { uniqueIdentifier: "order-1", contact: { email: "ada@example.com" } },
  { uniqueIdentifier: "order-2", contact: { email: "grace@example.com" } },
].map((order) => ({ eventName: "order placed", ...order }));

const foundIn = async (
  job: (mock: MockService) => Promise<unknown>,
  options?: Parameters<typeof everyFault>[1],
): Promise<FaultFound> => {
  const error: unknown = await everyFault(job, options).catch((found: unknown) => found);
  if (error instanceof FaultFound) return error;
  throw new Error("no fault was found", { cause: error });
};

/** A night of a job: a member first, then an order. A step that fails waits for the next night. */
async function nightly(mock: MockService): Promise<void> {
  const { contactGroups, events } = clientOf(mock);
  const member = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
  const steps = [
    () => contactGroups.get("mock-list"),
    () => contactGroups.addContact("mock-list", member),
    () => events.send(orders[0]!),
  ];
  for (let night = 1; steps.length > 0 && night <= 2; night += 1) {
    for (const step of steps.splice(0)) {
      try {
        await step();
      } catch (error) {
        if (!isAudienceError(error)) throw error;
        steps.push(step);
      }
    }
  }
}

describe("everyFault", () => {
  it("runs a job that survives once, and once for each request with each kind", async () => {
    const mocks = new Set<MockService>();
    const result = await everyFault(async (mock) => {
      mocks.add(mock);
      await nightly(mock);
      const { memberships, triggers, events } = stateOf(mock);
      expect([memberships.length, triggers.length, events.length]).toEqual([1, 1, 1]);
    });

    expect(result).toEqual({ requests: 3, runs: 1 + 3 * KINDS });
    expect(mocks.size).toBe(result.runs);
  });

  it("affects each request once with each of the kinds that it is given", async () => {
    const affected: string[] = [];
    const kinds = ["500-before", "latency"] as const;
    const result = await everyFault(
      async (mock) => {
        for (const order of orders) await clientOf(mock).events.send(order);
        affected.push(mock.requests.map(({ fault = "-" }) => fault).join(" "));
      },
      { kinds },
    );

    expect(result).toEqual({ requests: 2, runs: 5 });
    expect(affected.sort()).toEqual(["- -", "- 500-before -", "- latency", "500-before - -", "latency -"]);
  });

  it("runs several at a time", async () => {
    const arrived: MockService[] = [];
    let proceed: () => void = () => undefined;
    const several = new Promise<void>((resolve) => (proceed = resolve));
    await everyFault(async (mock) => {
      await clientOf(mock)
        .events.send(orders[0]!)
        .catch(() => undefined);
      // The first run is alone; of the others none ends before three are here.
      if (arrived.push(mock) === 4) proceed();
      if (arrived.length > 1) await several;
    });

    expect(arrived).toHaveLength(1 + KINDS);
  });

  it("names the first fault in order, also if a later one is found before", async () => {
    const found = await foundIn(
      async (mock) => {
        const { events } = clientOf(mock);
        await events.send(orders[0]!, { maxRetries: 0 });
        await events.send(orders[1]!, { maxRetries: 0 });
      },
      { kinds: ["hang", "500-before"] },
    );

    expect([found.kind, found.request.number]).toEqual(["hang", 1]);
  });
});

it("everyFault, a planted bug: an event without an id in a loop is found", async () => {
  const found = await foundIn(async (mock) => {
    for (const { eventName, contact } of orders) {
      for (let isSent = false; !isSent;) {
        // Each attempt of the loop gets an id of its own from the client.
        isSent = await clientOf(mock)
          .events.send({ eventName, contact })
          .then(
            () => true,
            () => false,
          );
      }
    }
    expect(stateOf(mock).events).toHaveLength(2);
  });

  expect([found.kind, found.request]).toEqual([
    "huge-body",
    { number: 1, operation: "v1.events.send", route: "POST /api/v1/events" },
  ]);
  expect(String(found.cause)).toContain("to have a length of 2 but got 3");
});

describe("everyFault, an error", () => {
  it("FaultFound names kind, request, and the job's own error as its cause", async () => {
    const own = new Error("the order is missing");
    const found = await foundIn(
      async (mock) => {
        const sent = clientOf(mock).customers.get("unknown-id", { maxRetries: 0 });
        const status = await sent.catch((error: unknown) => isAudienceError(error) && error.code);
        if (status !== "not_found") throw own;
      },
      { kinds: ["500-before"] },
    );

    expect(found).toBeInstanceOf(Error);
    expect(found.name).toBe("FaultFound");
    expect(found.message).toBe(
      'the job fails if "500-before" affects its request 1 (v1.customers.get, GET /api/v1/customer/{id}): ' +
        "the order is missing",
    );
    expect(found.cause).toBe(own);
  });

  it("FaultFound names the fault with which a job never ends", async () => {
    const job = async (mock: MockService) => {
      await mock.fetch("https://audience-mock.example/api/v1/customer");
      if (mock.requests[0]?.fault === "500-before") await new Promise(() => {});
    };

    const endless = await foundIn(job, { kinds: ["latency", "500-before"], timeoutMs: 300 });

    expect(endless.message).toBe(
      'the job fails if "500-before" affects its request 1 (v1.customers.list, GET /api/v1/customer): ' +
        "the job did not end within 300 ms",
    );
  });

  it("a job that never ends without a fault is named after its time", async () => {
    await expect(everyFault(() => new Promise(() => {}), { timeoutMs: 200.5 })).rejects.toThrow(
      "the job did not end within 200.5 ms",
    );
  });

  it.each([
    ["in its first run, after one run", 1, 1],
    ["at another time, and not by the fault", 2, 2],
  ])("a job that fails %s rejects with its own error", async (_, failing, least) => {
    const own = new Error("own");
    let runs = 0;
    const job = vi.fn(async (mock: MockService) => {
      if ((runs += 1) >= failing) throw own;
      await mock.fetch("https://audience-mock.example/api/v1/customer");
    });

    await expect(everyFault(job)).rejects.toBe(own);
    expect(job.mock.calls.length).toBeGreaterThanOrEqual(least);
    if (failing === 1) expect(job).toHaveBeenCalledOnce();
  });

  it.each([
    ["a job without a request", async () => undefined, {}, "sent no request"],
    ["an unknown kind", nightly, { kinds: ["explode"] }, "options.kinds[0] must be one of reset-before"],
  ])("%s is refused", async (_, job, options, message) => {
    // @ts-expect-error -- a caller from JavaScript has no compiler.
    const result: Promise<unknown> = everyFault(job, options);

    await expect(result).rejects.toThrow(TypeError);
    await expect(result).rejects.toThrow(message);
  });
});
