// Error bodies that are made to cost time: the CPU of a call that reads one of 64 KiB, the most that is read of an error.
import { AudienceClient } from "audience-sdk";
import { figure, median, table } from "./report.ts";

const bytes = 64 * 1024;
const boundMs = 50;

function filled(head: string, items: (at: number) => string, tail: string): string {
  let text = head;
  for (let at = 0; ; at++) {
    const item = `${at === 0 ? "" : ","}${items(at)}`;
    if (text.length + item.length + tail.length > bytes) return text + tail;
    text += item;
  }
}

const nested = (open: string, levels: number, close: string, innermost: string) =>
  open.repeat(levels) + innermost + close.repeat(levels);

const bodies: Readonly<Record<string, string>> = {
  "24 objects in each other": nested('{"error":', 24, "}", "{}"),
  "900 objects in each other": nested('{"error":[', 450, "]}", "{}"),
  "900 arrays around messages": filled("[".repeat(900), (at) => `"m${at}"`, "]".repeat(900)),
  "many messages": filled('{"errors":[', (at) => `{"detail":"${at}"}`, "]}"),
  "many keys": filled("{", (at) => `"key ${at}":1`, "}"),
  "empty objects": filled("[", () => "{}", "]"),
  "a page of wrong items": filled('{"success":true,"data":{"lists":[', () => "{}", "]}}"),
  "pieces of the key": JSON.stringify("benchmark-ke".repeat(5_000)),
  "escaped quotes": JSON.stringify('"'.repeat(32_000)),
};

/** The median CPU of a call, in milliseconds, with the status that costs most. */
async function costMs(body: string, rounds: number): Promise<number> {
  const medians: number[] = [];
  for (const status of [200, 400, 404, 429, 503]) {
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) costs.push(await callMs(body, status));
    medians.push(median(costs));
  }
  return Math.max(...medians);
}

async function callMs(body: string, status: number): Promise<number> {
  const { v2 } = new AudienceClient({
    baseUrlV2: "https://bodies.example.com",
    apiKey: "benchmark-key-0123456789",
    appId: "app",
    rateLimiter: false,
    maxRetries: 0,
    fetch: async () => new Response(body, { status }),
  });
  const before = process.cpuUsage();
  await v2.lists.list().then(String, String);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The table; throws if a body costs more than is promised. */
export async function measureBodies(rounds: number): Promise<string> {
  const rows: string[][] = [];
  for (const [name, body] of Object.entries(bodies)) {
    const cost = await costMs(body, rounds);
    if (cost > boundMs) throw new Error(`${name}: ${figure(cost)} ms of CPU, over ${boundMs}`);
    rows.push([name, `${figure(cost)} ms`]);
  }
  return table(["a response of 64 KiB", "CPU"], rows);
}
