import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService, type MockFaultKind } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { heldMb } from "./heap.ts";
import { MixedLoad } from "./mixed-load.ts";
import { stateOf, expectStateToAgree } from "./mixed-state.ts";

const durationMs = Number(process.env["SOAK_MS"] ?? 120_000);
const seed = Number(process.env["SOAK_SEED"] ?? (process.env["CI"] === undefined ? Date.now() % 2 ** 31 : 1));
const callers = 24;
const listId = "mock-list";
const organization = {
  id: "soak",
  apiKeys: ["soak-key-not-a-secret"],
  appId: "soak-app",
  lists: Array.from({ length: 45 }, (_, at) => ({
    id: at === 0 ? listId : `list-${at}`,
    name: `List ${at}`,
  })),
  contacts: Array.from({ length: 250 }, (_, at) => ({ email: `seeded-${at}@example.com` })),
};
// Every twelfth request is lost or cut, and keeps its permit for five more seconds: these windows still allow progress.
const windows = [
  { limit: 100, intervalMs: 500 },
  { limit: 1_500, intervalMs: 10_000 },
  { limit: 50_000, intervalMs: 3_600_000 },
];
const kinds: readonly MockFaultKind[] = [
  "reset-before",
  "reset-after",
  "hang",
  "latency",
  "429",
  "500-before",
  "500-after",
  "502-html",
  "503-retry-after",
  "truncated-json",
  "wrong-json",
  "wrong-content-type",
  "empty-body",
  "huge-body",
  "slow-body",
  "redirect",
];

/** One in a hundred requests gets each fault, and fewer a 429, which halves the limiter's rate. */
const faults = kinds.map((kind) => ({
  kind,
  probability: kind === "429" ? 0.003 : 0.01,
  retryAfter: 0,
  delayMs: kind === "latency" ? 100 : kind === "slow-body" ? 10 : 0,
}));

it(
  `simultaneous calls, faults and aborts lose, duplicate and leak nothing (seed ${seed})`,
  { timeout: durationMs + 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "soak-mixed-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const resourcesBefore = openResources();
    const mock = createMockService({
      organizations: [organization],
      rateLimits: { windows },
      faults,
      latencyMs: [0, 15],
      seed,
    });
    const { clientOptions, close } = await mock.listen();
    const rateLimiter = new RateLimiter({ windows });
    const options = { ...clientOptions, rateLimiter, timeoutMs: 3_000, maxRetries: 3, deadlineMs: 15_000 };
    const open = () => new AudienceClient(options);
    const load = new MixedLoad({ open, listId, folder, random: randomFrom(seed) });

    const held: number[] = [];
    const weighing = setInterval(() => void heldMb().then((mb) => held.push(mb)), durationMs / 8);
    await load.run({ callers, durationMs }).finally(() => clearInterval(weighing));

    const arrived = mock.requests.length;
    const refusedUnprovoked = mock.requests.filter(
      ({ status, fault }) => status === 429 && fault === undefined,
    ).length;
    console.log({
      seed,
      arrived,
      refusedUnprovoked,
      writes: load.records.length,
      matched: Object.fromEntries(
        kinds.map((kind) => [kind, mock.requests.filter(({ fault }) => fault === kind).length]),
      ),
      endings: Object.fromEntries([...load.counts].toSorted(([a], [b]) => a.localeCompare(b))),
      unknown: expectStateToAgree(load.records, stateOf(mock, organization.id, listId)),
      heldMb: held.map((mb) => mb.toFixed(1)).join(" "),
      perRequestKb: ((((held.at(-1) ?? 0) - (held[1] ?? 0)) * 1_000) / arrived).toFixed(2),
      usage: rateLimiter.usage(),
    });
    expect(rateLimiter.usage()).toMatchObject({ queued: 0, inFlight: 0 });
    expect(refusedUnprovoked).toBe(0);
    // Every fault occurred.
    for (const kind of kinds) expect(mock.requests.some(({ fault }) => fault === kind)).toBe(true);

    await close();
    mock.reset();
    await settled(resourcesBefore);
    const afterMb = await heldMb();
    console.log({ afterMb: afterMb.toFixed(1) });
    // Only the mock's state grew; without it the memory is at most as after the first eighth.
    expect(afterMb - (held[0] ?? 0)).toBeLessThan(15);
  },
);

function openResources(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== "Timeout").length;
}

/** Sockets close a moment after their release; none may be left. */
async function settled(before: number): Promise<void> {
  for (let turn = 0; turn < 100 && openResources() > before; turn++)
    await once(AbortSignal.timeout(100), "abort");
  expect(openResources()).toBeLessThanOrEqual(before);
}
