import { afterEach, beforeEach, expect, it } from "vitest";
import { inProcess, nodeHttp, type OpenEntryPoint } from "./entry-points.ts";

let open: OpenEntryPoint;
beforeEach(async () => {
  open = await nodeHttp.open();
  await open.call("/api/v1/customer/create", { body: { email: "ada@example.com" } });
});
afterEach(() => open.close());

it.each(["mock-organization", "mock-api-key-not-a-secret"])(
  "the state of %s can be read over HTTP",
  async (name) => {
    const { status, body } = await open.call(`/__mock/organizations/${name}`);

    expect(status).toBe(200);
    expect(body).toEqual(open.mock.organization("mock-organization"));
  },
);

it("the root is a page that says what it is, with the environment of a client and every path", async () => {
  const { status, headers, body } = await open.call("/");

  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain/);
  expect(body).toContain("the mock of the audience service");
  expect(body).toContain(`export AUDIENCE_BASE_URL=${open.options.baseUrl}\n`);
  expect(body).toMatch(
    / {2}POST \/api\/v1\/contact-groups\/\{listId\}\/contacts +v1\.contactGroups\.addContact\n/,
  );
  expect(body).toMatch(/ {2}GET \/v2\/lists +v2\.lists\.list\n/);
  for (const path of ["organizations/", "requests", "settled", "faults", "reset"])
    expect(body).toContain(` /__mock/${path}`);
});

it("the root page is not logged", async () => {
  await open.call("/");

  expect(open.mock.requests.map(({ path }) => path)).toEqual(["/api/v1/customer/create"]);
});

it("the log can be read over HTTP, and reading it is not logged", async () => {
  const { body } = await open.call("/__mock/requests");

  expect(body).toMatchObject([
    { operation: "v1.customers.upsert", body: { email: "ada@example.com" }, status: 201, applied: true },
  ]);
});

it("a fault can be added over HTTP", async () => {
  const { status } = await open.call("/__mock/faults", { body: { kind: "500-before", times: 1 } });

  expect(status).toBe(201);
  expect((await open.call("/v2/lists")).status).toBe(500);
  expect((await open.call("/v2/lists")).status).toBe(200);
});

it("the mock can be reset over HTTP, with a body or without", async () => {
  await open.call("/__mock/reset", { body: {} });

  expect(open.mock.organization("mock-organization").contacts).toEqual([]);
  expect(open.mock.requests).toEqual([]);

  await open.call("/v2/lists");
  await open.call("/__mock/reset", { method: "POST", headers: { "content-type": "application/json" } });

  expect(open.mock.requests).toEqual([]);
});

it.each([
  ["an unknown organization", "/__mock/organizations/globex", {}, 400, "there are: mock-organization"],
  [
    "an unknown kind of fault",
    "/__mock/faults",
    { body: { kind: "explode" } },
    400,
    "fault.kind must be one of",
  ],
  [
    "a fault that is invalid JSON",
    "/__mock/faults",
    { rawBody: "{" },
    400,
    "the body must be JSON, such as {",
  ],
  ["a fault without a body", "/__mock/faults", { rawBody: "" }, 400, "the body must be JSON, such as {"],
  [
    "a person that is null",
    "/__mock/unsubscribe",
    { body: null },
    400,
    "the body must be an object, such as {",
  ],
  ["a click without a person", "/__mock/confirm", { body: {} }, 400, "person must be a string"],
  ["a name that is no percent-encoding", "/__mock/organizations/%zz", {}, 400, "URI malformed"],
  ["another path", "/__mock/nothing", {}, 404, "/__mock/nothing"],
])("%s is refused with a reason", async (_, path, call, status, reason) => {
  const response = await open.call(path, call);

  expect(response.status).toBe(status);
  expect(response.body).toHaveProperty("message");
  expect(JSON.stringify(response.body)).toContain(reason);
});

it("in process there are no such paths, because the mock object has these methods", async () => {
  const { call } = await inProcess.open();

  expect((await call("/__mock/requests")).status).toBe(404);
});
