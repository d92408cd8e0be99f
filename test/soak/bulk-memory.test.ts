import { AudienceClient, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { heldMb } from "./heap.ts";

const count = 50_000;

it("A run of 50,000 rows needs no more memory at its end than after its thousandth row", async () => {
  const mock = createMockService();
  // Node collects a `Request` with a signal late and in batches of some hundred MB: the mock, which creates one for
  // each url and init, gets no signal. The client's own signals are unchanged.
  const fetch = (url: string, init: RequestInit) => mock.fetch(url, { ...init, signal: null });
  const audience = new AudienceClient({ ...mock.clientOptions, fetch });
  function* rows() {
    for (let index = 0; index < count; index++)
      yield { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" as const };
  }
  const run = audience.bulk(rows(), (row) => write.v1.customers.upsert(row), { total: count });
  const held: number[] = [];
  let done = 0;
  const startedMs = performance.now();

  for await (const { status } of run) {
    expect(status).toBe("succeeded");
    done++;
    // The mock records every contact and request: its state is cleared, so that only the run's memory can grow.
    if (done % 5_000 === 0 || done === 1_000) mock.reset();
    if (done === 1_000 || done % 10_000 === 0) held.push(await heldMb());
  }

  const [first = 0, ...later] = held;
  console.log({
    rowsPerSecond: Math.round(count / ((performance.now() - startedMs) / 1_000)),
    heldMb: held.map((mb) => mb.toFixed(1)).join(" "),
  });
  expect(await run.summary()).toMatchObject({ total: count, succeeded: count });
  expect(Math.max(...later) - first).toBeLessThan(10);
}, 3_600_000);
