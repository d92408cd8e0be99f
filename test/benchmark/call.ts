// The cost of one call: bare fetch, bare ky, the four packages combined by hand, and this package with its limiter.
// It measures the build: npm run build && npx tsx test/benchmark/call.ts
// The rounds alternate, so that other load affects all alike; medians. Ratios are comparable between machines, figures are not.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createMockService } from "audience-sdk/mock";
import Bottleneck from "bottleneck";
import ky from "ky";
import pRetry from "p-retry";
import * as z from "zod";

// Safe: the file is built from src/index.ts. tsx would slow the source down, because it renames every function.
const { AudienceClient, RateLimiter } = (await import(
  new URL("../../dist/index.js", import.meta.url).href
)) as typeof import("audience-sdk");

// In memory ours carries what bare ky does without: a signal, a deadline, a permit (D62).
const bounds = { toKy: 2.5, addedMs: 0.3 };
const rounds = Number(process.env["ROUNDS"] ?? 15);
// Warm-up for the JIT compiler.
const warmUp = 5;

const apiKey = "key-1234567890abcdef";
const contact = {
  email: "ada@example.com",
  first_name: "Ada",
  email_opt_in: "SUBSCRIBED",
  country: "Italy",
  city: "Turin",
  custom_properties: { plan: "gold" },
} as const;
const response = JSON.stringify({
  data: {
    type: "profile",
    id: "01JC7W8Q2",
    attributes: { email: contact.email, first_name: "Ada", email_opt_in: "SUBSCRIBED", source: "api" },
    relationships: { lists: { links: { related: "/lists" } } },
  },
  links: { self: "/customer/01JC7W8Q2" },
});

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
type Call = () => Promise<unknown>;
interface Side {
  readonly calls: number;
  readonly call: Call;
  readonly cpuUs: number[];
  readonly wallUs: number[];
}

function sidesOf(
  calls: number,
  baseUrl: string,
  own: Fetch | undefined,
): Record<"fetch" | "ky" | "by hand" | "ours", Side> {
  const url = `${baseUrl}/api/v1/customer/create`;
  const headers = { "x-api-key": apiKey, accept: "application/json" };
  const given = own ? { fetch: own } : {};
  const byKy = () => ky.post(url, { json: contact, headers, retry: 0, ...given }).json();
  const audience = new AudienceClient({
    ...given,
    baseUrl,
    apiKey,
    rateLimiter: new RateLimiter({
      windows: [1_000, 60_000, 3_600_000].map((intervalMs) => ({ limit: 1e9, intervalMs })),
    }),
  });
  const contactSchema = z.strictObject({
    email: z.string(),
    first_name: z.string().max(100).optional(),
    email_opt_in: z.enum(["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"]),
    country: z.string().max(100).optional(),
    city: z.string().max(100).optional(),
    custom_properties: z.record(z.string(), z.string()).optional(),
  });
  const profileSchema = z.looseObject({ data: z.looseObject({ id: z.string() }) });
  const bottleneck = new Bottleneck({ reservoir: 1e9 });
  const side = (each: number, call: Call): Side => ({ calls: each, call, cpuUs: [], wallUs: [] });
  return {
    fetch: side(calls, async () => {
      const body = JSON.stringify(contact);
      const all = { ...headers, "content-type": "application/json" };
      return (await (own ?? fetch)(url, { method: "POST", headers: all, body })).json();
    }),
    ky: side(calls, byKy),
    // Few, because each takes milliseconds.
    "by hand": side(calls / 20, async () => {
      contactSchema.parse(contact);
      return profileSchema.parse(await pRetry(() => bottleneck.schedule(byKy), { retries: 4 }));
    }),
    ours: side(calls, () => audience.v1.customers.upsert(contact)),
  };
}

async function measure(name: string, calls: number, baseUrl: string, own?: Fetch): Promise<boolean> {
  const sides = sidesOf(calls, baseUrl, own);
  for (let round = 0; round < warmUp + rounds; round += 1) {
    for (const side of Object.values(sides)) await runRound(side, round >= warmUp);
  }
  process.stdout.write(`${name}\n`);
  const toKy = median(sides.ours.cpuUs) / median(sides.ky.cpuUs);
  const addedMs = (median(sides.ours.wallUs) - median(sides.ky.wallUs)) / 1_000;
  for (const [label, { cpuUs, wallUs }] of Object.entries(sides)) {
    const ratio = (median(cpuUs) / median(sides.ky.cpuUs)).toFixed(2);
    const figures = `${median(cpuUs).toFixed(1)} µs CPU, ${median(wallUs).toFixed(1)} µs time`;
    process.stdout.write(`  ${label.padEnd(8)} ${figures}; CPU to ky ${ratio}\n`);
  }
  process.stdout.write(
    `  ours to ky: ${toKy.toFixed(3)} (at most ${bounds.toKy}); added ${addedMs.toFixed(3)} ms (at most ${bounds.addedMs})\n`,
  );
  return toKy <= bounds.toKy && addedMs <= bounds.addedMs;
}

async function runRound({ calls, call, cpuUs, wallUs }: Side, counts: boolean): Promise<void> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  for (let made = 0; made < calls; made += 1) await call();
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  if (!counts) return;
  cpuUs.push((user + system) / calls);
  wallUs.push((tookMs * 1_000) / calls);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** In a process of its own, so that the mock's work is not counted. */
async function overHttp(): Promise<boolean> {
  const file = new URL(import.meta.url).pathname;
  const server = spawn(process.execPath, ["--import", "tsx", file, "--serve"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    return await measure("over loopback HTTP", 200, line.toString().trim());
  } finally {
    server.kill();
  }
}

if (process.argv.includes("--serve")) {
  const organization = { id: "one", apiKeys: [apiKey], appId: "app" };
  const { url } = await createMockService({ organizations: [organization] }).listen();
  process.stdout.write(`${url}\n`);
} else {
  const inMemory = await measure("in memory", 1_000, "https://api.example.com", async () => {
    return new Response(response, { status: 201, headers: { "content-type": "application/json" } });
  });
  if (!(await overHttp()) || !inMemory) process.exitCode = 1;
}
