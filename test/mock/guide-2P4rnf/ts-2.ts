import { strict as assert } from "node:assert";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService({ rateLimits: "documented" });
const server = await mock.listen({ port: 0 });
const audience = new AudienceClient(server.clientOptions);

await audience.v2.lists.list();
assert.equal(mock.requests[0]?.status, 200);

await server.close(); // an open server keeps the process alive
