import { randomBytes } from "node:crypto";
import { getEventListeners } from "node:events";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { garbageCollector } from "../garbage-collector.ts";
import { failureOf } from "../transport/failure.ts";
import { json, profileResponse, serve } from "../transport/fixture.ts";

const { clientOptions } = createMockService();

describe("Many calls leave nothing behind", () => {
  it("10,000 calls on one long-lived signal share one listener, and leave none", async () => {
    const fetch = async () => Response.json(profileResponse);
    const audience = new AudienceClient({ ...clientOptions, fetch });
    const { signal } = new AbortController();
    let most = 0;

    for (let round = 0; round < 10; round++) {
      const calls = Array.from({ length: 1_000 }, () => audience.v1.customers.get("c-1", { signal }));
      most = Math.max(most, getEventListeners(signal, "abort").length);
      await Promise.all(calls);
    }

    expect(most).toBe(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("10,000 calls in the queue are aborted together, and leave it empty", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 3_600_000 }] });
    const audience = new AudienceClient({ ...clientOptions, rateLimiter });
    await audience.v1.customers.list();
    const stop = new AbortController();
    const failures = Array.from({ length: 10_000 }, () =>
      failureOf(audience.v1.customers.get("c-1", { signal: stop.signal })),
    );
    await eventually(() => expect(rateLimiter.usage().queued).toBe(10_000));

    const before = process.cpuUsage();
    stop.abort(new Error("the user left"));
    const errors = await Promise.all(failures);

    // A few hundred milliseconds on an idle machine; a listener for each call would take several times as long.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
    expect(errors.every(({ code, outcome }) => code === "aborted" && outcome === "not-sent")).toBe(true);
    expect(rateLimiter.usage().queued).toBe(0);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  });

  it("10,000 calls that fail, over real sockets, leave no socket, no timer, and no heap", async () => {
    const { options } = await serve((outgoing, _, count) => {
      if (count % 4 === 0) return json(outgoing, 500, { message: "no" });
      if (count % 4 === 1) return json(outgoing, 404, { message: "no" });
      if (count % 4 === 2) return void outgoing.writeHead(200).end("<html>");
      outgoing.socket?.destroy();
    });
    const audience = new AudienceClient({ ...options, maxRetries: 0 });
    const collect = garbageCollector();
    const round = async (calls: number) => {
      for (let sent = 0; sent < calls; sent += 100) {
        await Promise.all(
          Array.from({ length: 100 }, (_, at) =>
            failureOf(
              audience.v1.customers.upsert({ email: `c${at}@example.com`, email_opt_in: "SUBSCRIBED" }),
            ),
          ),
        );
      }
    };
    await round(1_000);
    collect();
    const before = { heap: process.memoryUsage().heapUsed, resources: process.getActiveResourcesInfo() };

    await round(10_000);
    // Sockets close and finalizers run in later turns of the event loop; anything left after them is a leak.
    for (let turn = 0; turn < 20; turn++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const after = { heap: process.memoryUsage().heapUsed, resources: process.getActiveResourcesInfo() };

    const count = (resources: string[], kind: string) => resources.filter((each) => each === kind).length;
    expect(count(after.resources, "Timeout")).toBeLessThanOrEqual(count(before.resources, "Timeout") + 2);
    // Both ends of a kept-alive connection are in this process.
    expect(count(after.resources, "TCPSocketWrap")).toBeLessThanOrEqual(
      count(before.resources, "TCPSocketWrap") + 100,
    );
    expect(after.heap - before.heap).toBeLessThan(20 * 1024 * 1024);
  });

  it("a new long key for every request costs neither memory nor time", async () => {
    const collect = garbageCollector();
    const token = () => randomBytes(500).toString("hex");
    const fetch = async () => new Response("x".repeat(32 * 1024), { status: 400 });
    const audience = new AudienceClient({ ...clientOptions, apiKey: token, fetch, maxRetries: 0 });
    for (let call = 0; call < 200; call++) await failureOf(audience.v1.customers.get("c"));
    collect();
    const before = process.memoryUsage().heapUsed;

    const begin = process.cpuUsage();
    for (let call = 0; call < 1_500; call++) await failureOf(audience.v1.customers.get("c"));
    const perCallMs = process.cpuUsage(begin).user / 1_000 / 1_500;
    collect();

    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 * 1024 * 1024);
    expect(perCallMs).toBeLessThan(40);
  });
});
