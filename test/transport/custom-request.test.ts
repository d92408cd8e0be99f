import { AudienceClient, type ClientOptions, type CustomRequest, type RequestEvent } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "./failure.ts";

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** A client and what it sent; each request is responded to with the next of the given responses. */
function recording(responses: (() => Response)[] = [], options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const audience = new AudienceClient({
    baseUrl: "https://one.example.com/prefix",
    baseUrlV2: "https://two.example.com",
    apiKey: "key-one",
    apiKeyV2: "key-two",
    appId: "app",
    rateLimiter: false,
    fetch: async (url, { method, headers, body }) => {
      sent.push({ method, url, headers, body });
      return responses.shift()?.() ?? Response.json({ ok: true });
    },
    ...options,
  });
  return { audience, sent };
}

const writeTo = (contact: unknown) => ({ method: "POST", path: "/api/v1/a", contact });

const json = (status: number, body: unknown) => () => Response.json(body, { status });

describe("v1.request and v2.request", () => {
  it("send method, path, query and body with the authentication of their family", async () => {
    const { audience, sent } = recording();

    await audience.v1.request({
      method: "PATCH",
      path: "/api/v1/customer/a%20b",
      query: { dry: true, page: 2, word: "ä b", no: undefined },
      body: { tags: ["x"], at: new Date(0) },
    });
    await audience.v2.request({ method: "DELETE", path: "/v2/contacts/7" });

    expect(sent).toMatchObject([
      {
        method: "PATCH",
        url: "https://one.example.com/prefix/api/v1/customer/a%20b?dry=true&page=2&word=%C3%A4+b",
        headers: { "x-api-key": "key-one", "content-type": "application/json" },
        body: '{"tags":["x"],"at":"1970-01-01T00:00:00.000Z"}',
      },
      {
        method: "DELETE",
        url: "https://two.example.com/v2/contacts/7",
        headers: { "service-api-key": "key-two", "service-app-id": "app" },
      },
    ]);
    expect(sent[1]?.body).toBeUndefined();
    expect(sent[1]?.headers).not.toHaveProperty("content-type");
  });

  it.each([
    [json(200, { a: [1] }), { a: [1] }],
    [json(201, [1]), [1]],
    [() => new Response("done"), "done"],
    [() => new Response(null, { status: 204 }), undefined],
  ])("resolve to the parsed body of any 2xx", async (response, data) => {
    const { audience } = recording([response]);

    const result = await audience.v1.request({ method: "GET", path: "/api/v1/new" }).withResponse();

    expect(result.data).toEqual(data);
    expect(result.attempts).toBe(1);
  });

  it.each([
    ["JSON that breaks off", '{"data":', "application/json"],
    ["a page of a gateway", "<html>Sign in</html>", "text/html; charset=utf-8"],
  ])("reject where a 2xx has %s: a write may have been carried out", async (_, text, contentType) => {
    const { audience } = recording([() => new Response(text, { headers: { "content-type": contentType } })]);

    const error = await failureOf(audience.v1.request({ method: "POST", path: "/api/v1/new" }));

    expect(error).toMatchObject({ code: "unexpected_response", outcome: "unknown", status: 200, body: text });
  });

  it("show hooks the operation and the family's path alone, as the real one may name a person", async () => {
    const events: RequestEvent[] = [];
    const { audience } = recording([json(404, {})], { hooks: { onResponse: (event) => events.push(event) } });

    const error = await failureOf(
      audience.v1.request({ method: "GET", path: "/api/v1/customer/ada@example.com" }),
    );
    await audience.v2.request({ method: "GET", path: "/v2/new" });

    expect(events).toMatchObject([
      { operation: "v1.request", path: "/api/v1/…", method: "GET", status: 404 },
      { operation: "v2.request", path: "/v2/…", method: "GET", status: 200 },
    ]);
    expect(error.request).toMatchObject({ operation: "v1.request", path: "/api/v1/…" });
    expect(error.message).not.toContain("ada");
  });
});

describe("A custom request is retried after a lost response", () => {
  const lost = () => Response.error();

  it.each([
    ["GET", undefined, 2, "not-applied"],
    ["POST", undefined, 1, "unknown"],
    ["PUT", undefined, 1, "unknown"],
    ["DELETE", undefined, 1, "unknown"],
    ["DELETE", true, 2, "unknown"],
    ["POST", true, 2, "unknown"],
    ["GET", false, 1, "not-applied"],
  ] as const)("%s with repeatable %s: %i attempts", async (method, repeatable, attempts, outcome) => {
    const { audience, sent } = recording([lost, lost]);

    const error = await failureOf(
      audience.v1.request({ method, path: "/api/v1/new" }, { repeatable, maxRetries: 1 }),
    );

    expect(sent).toHaveLength(attempts);
    expect(error.outcome).toBe(outcome);
  });
});

it.each<[string, unknown, string, (string | number)[]]>([
  ["no request", undefined, "required: an object", []],
  ["no method", { path: "/api/v1/a" }, "required: one of GET, POST, PUT, PATCH, DELETE", ["method"]],
  ["a path of the other family", { method: "GET", path: "/v2/lists" }, "must begin with /api/v1/", ["path"]],
  ["a path out of the family", { method: "GET", path: "/api/v1/../v2/x" }, "must not hold . or ..", ["path"]],
  ["a query in the path", { method: "GET", path: "/api/v1/a?b=c" }, "give the query in `query`", ["path"]],
  ["a space in the path", { method: "GET", path: "/api/v1/a b" }, "encodeURIComponent", ["path"]],
  ["an empty segment", { method: "GET", path: "/api/v1//a" }, "must not hold an empty segment", ["path"]],
  ...["%2f..%2f..", "%2e%2e%5c%2e%2e", "%252e%25252e", "..%20%2fx", "..;a=1"].map(
    (path): [string, unknown, string, string[]] => [
      `a parent encoded as ${path}`,
      { method: "GET", path: `/api/v1/a/${path}` },
      "must not hold . or ..",
      ["path"],
    ],
  ),
  [
    "a control character",
    { method: "GET", path: "/api/v1/a%00" },
    "must hold no control character",
    ["path"],
  ],
  ["a method in lower case", { method: "post", path: "/api/v1/a" }, "write POST", ["method"]],
  ["a method of no API", { method: "TRACE", path: "/api/v1/a" }, "must be one of GET, POST", ["method"]],
  ["a GET with a body", { method: "GET", path: "/api/v1/a", body: {} }, "a GET has no body", ["body"]],
  [
    "an unknown key",
    { method: "GET", path: "/api/v1/customer/create", data: {} },
    "unknown key: a request has method, path, query, body and contact; options are the second argument",
    ["data"],
  ],
  [
    "a body that JSON cannot carry",
    { method: "POST", path: "/api/v1/a", body: { a: [Number.NaN] } },
    "JSON cannot carry NaN",
    ["body", "a", 0],
  ],
  ["a query of an array", { method: "GET", path: "/api/v1/a", query: { a: [1] } }, "", ["query", "a"]],
  ["a contact without a name", writeTo({}), "required: an email, a phone or a contactUUID", ["contact"]],
  [
    "another key of the contact",
    writeTo({ email: "ada@example.com", id: "c-1" }),
    "unknown key: a contact is named by email, phone and contactUUID",
    ["contact", "id"],
  ],
  [
    "a key of the contact that only a request has",
    writeTo({ email: "ada@example.com", Path: "x" }),
    "unknown key: a contact is named by email, phone and contactUUID",
    ["contact", "Path"],
  ],
  ["an address with a hidden character", writeTo({ email: "a\u200b@b" }), "U+200B", ["contact", "email"]],
  ["a phone without a digit", writeTo({ phone: "n/a" }), "must hold a digit", ["contact", "phone"]],
  ["a blank contactUUID", writeTo({ contactUUID: " " }), "must not be empty", ["contact", "contactUUID"]],
])("A custom request is refused, and nothing is sent: %s", async (_, request, message, path) => {
  const { audience, sent } = recording();

  // A caller in JavaScript can pass this.
  const error = await failureOf(audience.v1.request(request as CustomRequest));

  const issue = expect.objectContaining({ path, message: expect.stringContaining(message) });
  const issues = expect.arrayContaining([issue]);
  expect(error).toMatchObject({ code: "validation", issues, outcome: "not-sent" });
  expect(sent).toEqual([]);
});

describe("A custom request that adds a contact to a list", () => {
  const path = "/api/v1/contact-groups/list-1/contacts";

  it("needs email_opt_in, as the service would subscribe a contact again, or that it is left to the service", async () => {
    const { audience, sent } = recording();

    const error = await failureOf(
      audience.v1.request({ method: "POST", path, body: { email: "ada@example.com" } }),
    );

    expect(error).toMatchObject({ code: "validation", issues: [{ path: ["body", "email_opt_in"] }] });
    expect(error.message).toContain('{ consent: "service-decides" }');
    expect(sent).toEqual([]);
    await audience.v1.request(
      { method: "POST", path, body: { email: "ada@example.com" } },
      { consent: "service-decides" },
    );
    expect(sent).toHaveLength(1);
  });

  it.each([
    "/api/v1/contact-groups/list-1/contacts/",
    "/api/v1/Contact-Groups/list-1/Contacts",
    "/api/v1/contact%2Dgroups/list-1/contact%73",
    "/api/v1/contact-groups/a%2Fb/contacts",
    "/api/v1/contact-groups/%zz/contacts",
    "/api/v1/contact-groups/list-1/contacts%2f",
    "/api/v1/contact-groups/list-1/contacts;a=1",
    "/api/v1/contact-groups/list-1/contacts%20",
    "/api/v1/contact-groups/list-1/contacts.json",
    "/api/v1/contact-groups/list-1/contacts%3Fa=1",
    "/api/v1/contact-groups%5Clist-1%5Ccontacts",
    "/api/v1/contact%252Dgroups/list-1/contact%2525%37%33",
    "/api/v1/contact-groups;a=1/list-1/contacts",
    "/api/v1/contact-groups/a%3Fb/contacts",
    "/api/v1/contact-groups/%3Ba/contacts",
  ])("also as %s, which a server may read as the same path", async (spelling) => {
    const { audience, sent } = recording();

    const error = await failureOf(
      audience.v1.request({ method: "POST", path: spelling, body: { email: "ada@example.com" } }),
    );

    expect(error).toMatchObject({ code: "validation", issues: [{ path: ["body", "email_opt_in"] }] });
    expect(sent).toEqual([]);
  });

  it.each(["", " ", "subscribed", "YES", false, 1])("and %j is no consent", async (optIn) => {
    const { audience, sent } = recording();
    const body = { email: "ada@example.com", email_opt_in: optIn };

    const error = await failureOf(audience.v1.request({ method: "POST", path, body }));

    expect(error).toMatchObject({ code: "validation" });
    expect(sent).toEqual([]);
  });

  it("has the outcome unknown after a 404, as the contact may have been created", async () => {
    const { audience } = recording([json(404, {}), json(404, {})]);
    const body = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };

    const [adding, other] = [
      await failureOf(audience.v1.request({ method: "POST", path, body })),
      await failureOf(audience.v1.request({ method: "POST", path: "/api/v1/contact-groups", body })),
    ];

    expect(adding).toMatchObject({ code: "not_found", outcome: "unknown" });
    expect(other).toMatchObject({ code: "not_found", outcome: "not-applied" });
  });
});
