// node both.mjs ENTRY...: both formats in one process, as with an ES module whose dependency still uses `require`.
import { createRequire } from "node:module";
import * as imported from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const require = createRequire(import.meta.url);
const required = require("audience-sdk");
const mock = createMockService();
const { rateLimiter: _own, ...clientOptions } = mock.clientOptions;
const one = new imported.AudienceClient(clientOptions);
const other = new required.AudienceClient(clientOptions);

const refusal = await other.v1.customers.upsert({}).catch((error) => error);
await other.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
const shared = {
  areTwoCopies: imported.AudienceClient !== required.AudienceClient,
  knowsErrorOfTheOther: imported.isAudienceError(refusal),
  usedOfTheOther: one.rateLimiter.usage().windows.map(({ used }) => used),
};

/** The exports of each entry, by `import` and by `require`. */
const names = {};
for (const entry of process.argv.slice(2))
  names[entry] = [Object.keys(await import(entry)).sort(), Object.keys(require(entry)).sort()];

console.log(JSON.stringify({ shared, names }));
