import { mock as nodeMock } from "node:test";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

nodeMock.timers.enable({ apis: ["setTimeout", "Date"] }); // inside a test: t.mock.timers
const clock = () => Date.now();
const mock = createMockService({ rateLimits: "documented", clock });
const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter: new RateLimiter({ clock }) });

const calls = Promise.all(Array.from({ length: 11 }, () => audience.v2.lists.list()));
for (let step = 1; step <= 20; step += 1) {
  nodeMock.timers.tick(100);
  await new Promise(setImmediate);
  if (step === 5) console.log(`after 0.5 s: ${mock.requests.length} requests`);
}
await calls;
console.log(`after 2 s: ${mock.requests.length} requests`);
nodeMock.timers.reset();
//=> after 0.5 s: 10 requests
//=> after 2 s: 11 requests
