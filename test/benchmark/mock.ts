/** Measures the mock: requests a second in process, and memory for each contact. Run: npx tsx test/benchmark/mock.ts */
import { execFileSync } from "node:child_process";
import { createMockService, type MockService } from "audience-sdk/mock";

const print = (line: string) => process.stdout.write(`${line}\n`);

const REQUESTS = 20_000;
const CONTACTS = 100_000;

function bodyOf(index: number): string {
  return JSON.stringify({
    email: `person-${index}@example.com`,
    first_name: "Ada",
    last_name: `Lovelace ${index}`,
    email_opt_in: "SUBSCRIBED",
    country: "Italy",
    city: "Turin",
    custom_properties: { plan: "gold", seats: index },
  });
}

async function upsert({ fetch, clientOptions }: MockService, index: number): Promise<void> {
  const headers = { "x-api-key": clientOptions.apiKey, "content-type": "application/json" };
  const url = `${clientOptions.baseUrl}/api/v1/customer/create`;
  const response = await fetch(url, { method: "POST", headers, body: bodyOf(index) });
  if (response.status !== 201) throw new Error(`status ${response.status}: ${await response.text()}`);
  await response.json();
}

async function measureSpeed(): Promise<void> {
  const mock = createMockService();
  for (let index = 0; index < 1_000; index += 1) await upsert(mock, index);
  const startMs = performance.now();
  for (let index = 0; index < REQUESTS; index += 1) await upsert(mock, index);
  const perSecond = REQUESTS / ((performance.now() - startMs) / 1_000);
  print(`speed: ${Math.round(perSecond)} requests a second (at least 2000), one after the other`);
}

async function measureMemory(): Promise<void> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error("run with --expose-gc");
  const mock = createMockService();
  for (let index = 0; index < 1_000; index += 1) await upsert(mock, index);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 1_000; index < CONTACTS + 1_000; index += 1) await upsert(mock, index);
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / CONTACTS;
  print(
    `memory: ${Math.round(bytes)} bytes a contact, its request in the log included (at most 2048), at ${CONTACTS}`,
  );
  if (mock.requests.length !== CONTACTS + 1_000) throw new Error("requests are missing");
}

if (process.argv.includes("--memory")) {
  await measureMemory();
} else {
  await measureSpeed();
  const file = new URL(import.meta.url).pathname;
  execFileSync(process.execPath, ["--expose-gc", "--import", "tsx", file, "--memory"], { stdio: "inherit" });
}
