// Both formats in one process, as with an ES module whose dependency still uses `require`.
import { createRequire } from "node:module";
import * as imported from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const required = createRequire(import.meta.url)("audience-sdk");
const mock = createMockService();
const { rateLimiter: _own, ...clientOptions } = mock.clientOptions;
const one = new imported.AudienceClient(clientOptions);
const other = new required.AudienceClient(clientOptions);

const refusal = await other.v1.customers.upsert({}).catch((error) => error);
await other.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });

console.log(
  JSON.stringify({
    areTwoCopies: imported.AudienceClient !== required.AudienceClient,
    knowsErrorOfTheOther: imported.isAudienceError(refusal),
    usedOfTheOther: one.rateLimiter.usage().windows.map(({ used }) => used),
  }),
);
