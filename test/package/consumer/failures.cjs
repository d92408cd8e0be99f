// Failing calls, the details of their errors, and that neither they nor the client show a key.
const { openEntryPoint } = require("./open-entry-point.cjs");

const apiKey = "key-that-nobody-may-read";

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

/** `inspect` is the runtime's function that prints an object. */
exports.run = async function ({ sdk, mocking, inspect, entryPoint }) {
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
};

/** The expected result on every runtime. A read has no outcome worse than `not-applied`. */
exports.expected = {
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
};

function abortSoon() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  return controller.signal;
}
