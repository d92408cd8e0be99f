// A user's first program. Each consumer passes in the entries that it has loaded.
const { openEntryPoint } = require("./open-entry-point.cjs");

exports.run = async function ({ sdk, mocking, schemas, entryPoint = "http" }) {
  const mock = mocking.createMockService();
  const server = await openEntryPoint(mock, entryPoint);
  const audience = new sdk.AudienceClient(server.clientOptions);
  try {
    const profile = await audience.v1.customers.upsert({
      email: "ada@example.com",
      email_opt_in: "SUBSCRIBED",
    });
    const refusal = await audience.v1.customers.upsert({}).catch((error) => error);
    const emails = [];
    for await (const { attributes } of audience.v1.customers.list()) emails.push(attributes.email);
    const lists = await audience.v2.lists.list();
    mock.addFault({ kind: "reset-after", operation: "v1.events.send", times: 1 });
    const event = { eventName: "signed_up", contact: { email: "ada@example.com" } };
    const { attempts } = await audience.v1.events.send(event).withResponse();
    return {
      type: profile.type,
      emails,
      hasLists: lists.items.length > 0,
      attempts,
      events: mock.organization("mock-organization").events.length,
      refused: sdk.isAudienceError(refusal) && refusal instanceof sdk.ValidationError && refusal.code,
      knowsErrorOfOtherEntry:
        thrownBy(() => schemas.flattenProperties({ a: null })) instanceof sdk.ValidationError,
      schemaRefuses: schemas.v1ContactSchema.safeParse({}).success === false,
      requests: mock.requests.map(({ operation }) => operation),
      renamed: Object.entries(sdk).flatMap(([name, { name: own = name }]) => (own === name ? [] : [name])),
    };
  } finally {
    await audience.close();
    await server.close();
  }
};

/** The expected result, however the package was loaded. */
exports.expected = {
  type: "profile",
  emails: ["ada@example.com"],
  hasLists: true,
  attempts: 2,
  events: 1,
  refused: "validation",
  knowsErrorOfOtherEntry: true,
  schemaRefuses: true,
  requests: ["v1.customers.upsert", "v1.customers.list", "v2.lists.list", "v1.events.send", "v1.events.send"],
  renamed: [],
};

function thrownBy(call) {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
