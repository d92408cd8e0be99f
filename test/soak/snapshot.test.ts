import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { openSnapshot, readSnapshot } from "audience-sdk/snapshot";
import { expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { collect, linesOf, people, temporaryFolder } from "../snapshot/fixture.ts";
import { heldMb } from "./measures.ts";

it("100,000 contacts take at most 30 MB of memory, while they are read, opened and found", async () => {
  const count = 100_000;
  const file = join(temporaryFolder(), "audience.ndjson");
  const held: number[] = [];
  const before = await heldMb();
  const contact = (index: number) => ({
    id: randomUUID(),
    email: `person-${index}@example.com`,
    phone: `+49171${String(index).padStart(7, "0")}`,
    email_opt_in: "SUBSCRIBED",
    phone_opt_in: "NON_SUBSCRIBED",
    is_suppressed: false,
    updated: "2026-01-01T00:00:00.000Z",
  });
  const fetch = async (url: string) => {
    const page = Number(new URL(url).searchParams.get("page"));
    if (page % 250 === 0) held.push((await heldMb()) - before);
    const data = Array.from({ length: 100 }, (_, index) => contact(100 * (page - 1) + index));
    return Response.json({ data, total_items: count });
  };
  const audience = new AudienceClient({
    baseUrl: "https://api.example",
    apiKey: "key",
    fetch,
    rateLimiter: false,
  });

  using today = await readSnapshot(audience, { file });
  held.push((await heldMb()) - before);
  const startedMs = performance.now();
  using opened = await openSnapshot(file);
  const openedMs = performance.now() - startedMs;
  for (let index = 0; index < count; index++)
    if (!opened.find({ email: `PERSON-${index}@example.com` })) throw new Error(`${index} was not found`);
  const foundMs = performance.now() - startedMs - openedMs;
  expect(await collect(opened.changesSince(today))).toEqual([]);
  held.push((await heldMb()) - before);

  console.log({ heldMb: held.map((mb) => mb.toFixed(1)).join(" "), openedMs, foundMs });
  expect(Math.max(...held)).toBeLessThan(30);
});

it("A read of 100,000 contacts that is killed twenty times loses nobody, and has nobody twice", async () => {
  const contacts = people(100_000);
  const mock = createMockService({
    organizations: [{ id: "acme", apiKeys: ["key"], appId: "app", contacts }],
    latencyMs: [0, 5],
    variants: { v1Paging: "totals" },
  });
  const server = await mock.listen({ port: 0 });
  onTestFinished(() => server.close());
  const folder = temporaryFolder();
  const file = join(folder, "audience.ndjson");
  const program = join(folder, "child.mjs");
  await bundleProgram("test/files/child.ts", program);
  let kills = 0;
  const printed: string[] = [];
  while (printed.length === 0) {
    const before = mock.requests.length;
    const child = spawn(process.execPath, [program, "snapshot", file, server.url, "key"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => printed.push(text));
    const ended = once(child, "close");
    if (kills < 20) {
      // A process that ends by itself has failed.
      while (mock.requests.length === before && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
      kills += Number(child.kill("SIGKILL"));
    }
    await ended;
    // Else the next life would wait half a minute for it.
    rmSync(`${file}.lock`, { force: true });
    expect([null, 0]).toContain(child.exitCode);
  }

  console.log({ kills, requests: mock.requests.length });
  expect(kills).toBe(20);
  expect(JSON.parse(printed.join(""))).toEqual({ size: 100_000, complete: true });
  const ids = linesOf(file)
    .slice(1)
    .map(({ id }) => id);
  expect(ids).toEqual(contacts.map(({ id }) => id));
  // At most the page that was under way at each kill came again.
  expect(mock.requests.length).toBeLessThanOrEqual(1_000 + 20);
});
