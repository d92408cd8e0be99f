// What a user's first program does, over real HTTP. Each consumer hands in the entries as it has loaded them.
exports.scenario = async function scenario({ sdk, mocking, schemas }) {
  const mock = mocking.createMockService();
  const server = await mock.listen({ port: 0 });
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
    return {
      type: profile.type,
      emails,
      hasLists: lists.items.length > 0,
      refused: sdk.isAudienceError(refusal) && refusal instanceof sdk.ValidationError && refusal.code,
      schemaRefuses: schemas.v1ContactSchema.safeParse({}).success === false,
      requests: mock.requests.map(({ operation }) => operation),
      renamed: Object.entries(sdk).flatMap(([name, { name: own = name }]) => (own === name ? [] : [name])),
    };
  } finally {
    await audience.close();
    await server.close();
  }
};

/** What it comes to, whichever way the package was loaded. */
exports.expected = {
  type: "profile",
  emails: ["ada@example.com"],
  hasLists: true,
  refused: "validation",
  schemaRefuses: true,
  requests: ["v1.customers.upsert", "v1.customers.list", "v2.lists.list"],
  renamed: [],
};
