import { gzipSync } from "node:zlib";
import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "./failure.ts";
import { serve } from "./served.ts";

it("A compression bomb does not fill the memory: the body is read up to the limit", async () => {
  // 400 MB of zeros, compressed to 400 kB.
  const bomb = gzipSync(Buffer.alloc(400 * 1024 * 1024), { level: 9 });
  const { options } = await serve((outgoing) => {
    outgoing.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
  });
  const audience = new AudienceClient(options);
  const before = process.memoryUsage().rss;
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 5);

  const error = await failureOf(audience.v1.customers.get("c-1"));
  clearInterval(watch);

  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(highest - before).toBeLessThan(150 * 1024 * 1024);
});
