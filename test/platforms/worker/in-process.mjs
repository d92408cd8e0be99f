// The mock and the client in a worker: `workerd test` runs `test`, and the test reads its output.
import * as sdk from "audience-sdk";
import * as mocking from "audience-sdk/mock";
import * as schemas from "audience-sdk/schemas";
import { programs } from "./programs.cjs";

// Both can be constructed at the top of a module, where a worker may do little.
const mock = mocking.createMockService();
const audience = new sdk.AudienceClient(mock.clientOptions);
const entries = { sdk, mocking, schemas, inspect, entryPoint: "process" };

export default {
  async test() {
    await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
    const [scenario, failures] = [await programs.scenario.run(entries), await programs.failures.run(entries)];
    const { contacts } = mock.organization("mock-organization");
    console.log(JSON.stringify({ scenario, failures, contacts: contacts.length }));
  },
};

/** A worker has no `util.inspect`: this returns all own properties at any depth, also those that are not enumerable. */
function inspect(value, seen = new Set()) {
  if (typeof value !== "object" || value === null || seen.has(value)) return String(value);
  seen.add(value);
  const inner = Reflect.ownKeys(value).map((key) => `${String(key)}: ${inspect(value[key], seen)}`);
  return `${value} { ${inner.join(", ")} }`;
}
