// The programs of a user's project: each takes the entries as a consumer has loaded them, and the mock over real HTTP or
// in the same process. Its result is the expected one on every runtime, however the package was loaded.
exports.programs = {
  /** A first program. */
  scenario: {
    run: runScenario,
    expected: {
      type: "profile",
      emails: ["ada@example.com"],
      hasLists: true,
      attempts: 2,
      events: 1,
      refused: "validation",
      knowsErrorOfOtherEntry: true,
      schemaRefuses: true,
      requests: [
        "v1.customers.upsert",
        "v1.customers.list",
        "v2.lists.list",
        "v1.events.send",
        "v1.events.send",
      ],
      renamed: [],
    },
  },
  /** Failing calls, the details of their errors, and that neither they nor the client show a key. */
  failures: {
    run: runFailures,
    // A read has no outcome worse than `not-applied`.
    expected: {
      ended: {
        configuration: ["ConfigurationError", "configuration", "not-sent"],
        validation: ["ValidationError", "validation", "not-sent"],
        authentication: ["AuthenticationError", "authentication", "not-applied"],
        not_found: ["NotFoundError", "not_found", "not-applied"],
        server: ["ServerError", "server", "not-applied"],
        connection: ["ConnectionError", "connection", "unknown"],
        timeout: ["TimeoutError", "timeout", "not-applied"],
        unexpected_response: ["UnexpectedResponseError", "unexpected_response", "not-applied"],
        redirect: ["RedirectError", "redirect", "not-applied"],
        aborted: ["AbortError", "aborted", "not-applied"],
        rate_limit: ["RateLimitError", "rate_limit", "not-applied"],
        rate_limit_wait: ["RateLimitWaitError", "rate_limit_wait", "not-sent"],
        closed: ["ClientClosedError", "closed", "not-sent"],
      },
      showsKey: [],
    },
  },
  /** An import of rows that is stopped, and continues from its checkpoint. */
  import: { run: runImport, expected: { stopped: "server", succeeded: 4, skipped: 2, contacts: 6 } },
  /** Two limiters, like those of two processes, with one budget in the Redis of REDIS_URL. */
  budget: { run: runBudget, expected: { refused: "rate_limit_wait", requests: 3 } },
};

async function openEntryPoint(mock, entryPoint) {
  if (entryPoint === "http") return mock.listen();
  return { clientOptions: mock.clientOptions, close: async () => {} };
}

async function runScenario({ sdk, mocking, schemas, entryPoint = "http" }) {
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
}

function thrownBy(call) {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

/** For each error code a call, and the fault of the service that leads to it. */
const failures = {
  configuration: [(audience) => audience.withOptions({ baseUrl: "no address" })],
  validation: [({ v1 }) => v1.customers.upsert({})],
  authentication: [(audience) => audience.withOptions({ apiKey: "another-key" }).v1.customers.get("c-1")],
  not_found: [({ v1 }) => v1.customers.get("nobody")],
  server: [({ v1 }) => v1.customers.list(), { kind: "500-before" }],
  connection: [
    ({ v1 }) => v1.events.send({ eventName: "e", contact: { email: "a@b" } }),
    { kind: "reset-after" },
  ],
  timeout: [({ v1 }) => v1.customers.list({}, { timeoutMs: 50 }), { kind: "hang" }],
  unexpected_response: [({ v1 }) => v1.customers.list(), { kind: "truncated-json" }],
  redirect: [({ v1 }) => v1.customers.list(), { kind: "redirect" }],
  aborted: [({ v1 }) => v1.customers.list({}, { signal: abortSoon() }), { kind: "hang" }],
  rate_limit: [({ v1 }) => v1.customers.list(), { kind: "429" }],
  // During the pause of the failure before.
  rate_limit_wait: [({ v1 }) => v1.customers.list({}, { maxWaitMs: 1 })],
};

function abortSoon() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  return controller.signal;
}

/** `inspect` is the runtime's function that prints an object. */
async function runFailures({ sdk, mocking, inspect, entryPoint }) {
  const apiKey = "key-that-nobody-may-read";
  const mock = mocking.createMockService({ organizations: [{ id: "o-1", apiKeys: [apiKey], appId: "app" }] });
  const server = await openEntryPoint(mock, entryPoint);
  const shown = [];
  const show = (...parts) => shown.push(...parts.map(inspect));
  const audience = new sdk.AudienceClient({
    ...server.clientOptions,
    rateLimiter: new sdk.RateLimiter(),
    maxRetries: 0,
    logger: { debug: show, info: show, warn: show, error: show },
    logLevel: "debug",
  });
  const ended = {};
  const fail = async (code, call) => {
    const error = await Promise.resolve(audience)
      .then(call)
      .catch((reason) => reason);
    const isOfItsClass = sdk[error.name] !== undefined && error instanceof sdk[error.name];
    ended[code] = isOfItsClass ? [error.name, error.code, error.outcome] : inspect(error);
    shown.push(inspect(error), JSON.stringify(error), String(error), String(error.stack));
  };
  for (const [code, [call, fault]] of Object.entries(failures)) {
    mock.reset();
    if (fault) mock.addFault(fault);
    await fail(code, call);
  }
  shown.push(inspect(audience), JSON.stringify(audience));
  await audience.close();
  await fail("closed", ({ v1 }) => v1.customers.list());
  await server.close();
  return { ended, showsKey: shown.filter((text) => text.includes(apiKey.slice(8, 16))) };
}

async function runImport({ sdk, checkpoints, mocking, entryPoint }) {
  const file = `import-${Math.random()}.ckpt`;
  const mock = mocking.createMockService();
  const server = await openEntryPoint(mock, entryPoint);
  const audience = new sdk.AudienceClient({ ...server.clientOptions, maxRetries: 0 });
  const rows = Array.from({ length: 6 }, (_, at) => ({
    email: `${at}@example.com`,
    email_opt_in: "SUBSCRIBED",
  }));
  const importRows = () =>
    audience
      .bulk(rows, (row) => sdk.write.v1.customers.upsert(row), {
        concurrency: 1,
        key: (row) => row.email,
        checkpoint: checkpoints.fileCheckpoint(file),
        stopWhen: (error) => error.code === "server",
      })
      .summary();
  mock.addFault({ kind: "500-before", after: 2, times: 1 });
  const stopped = await importRows().catch((error) => error.code);
  const { succeeded, skipped } = await importRows();
  await audience.close();
  await server.close();
  return { stopped, succeeded, skipped, contacts: mock.organization("mock-organization").contacts.length };
}

async function runBudget({ sdk, mocking, stores }) {
  // Not at the top: a worker, which runs the other programs, has no Redis.
  const { Redis } = require("ioredis");
  const redis = new Redis(process.env.REDIS_URL);
  const windows = [{ limit: 3, intervalMs: 3_600_000 }];
  const store = stores.redisRateLimitStore(redis, { key: `budget-${Math.random()}` });
  const mock = mocking.createMockService();
  const [one, other] = [1, 2].map(
    () =>
      new sdk.AudienceClient({ ...mock.clientOptions, rateLimiter: new sdk.RateLimiter({ windows, store }) }),
  );
  for (let call = 0; call < 3; call += 1) await one.v1.customers.list();
  const refused = await other.v1.customers.list({}, { maxWaitMs: 100 }).then(
    () => undefined,
    (error) => error.code,
  );
  await Promise.all([one.close(), other.close()]);
  redis.disconnect();
  return { refused, requests: mock.requests.length };
}
