import { ApiError, NotFoundError, ServerError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { v1ErrorBodies } from "../chaos/service.ts";
import { entryPoints } from "../mock/entry-points.ts";
import { failureOf } from "../transport/failure.ts";
import { consent, expectError, useService, v2Contact } from "./service.ts";

const tooMany = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`key ${at}`, "x"]));

const CREATE = "/api/v1/customer/create";
const ADD = "/api/v1/contact-groups/news/contacts";
const contact = { email: "new@example.com" };
const fax = { type: "fax", id: "1", channels: {}, consent };

/** The tables of both families, row by row; 401 is in `authentication.test.ts`, 500 in `endpoints.test.ts`. */
const rows: [status: number, condition: string, path: string, body?: unknown][] = [
  [400, "identifiers missing", "/v2/contacts", { firstName: "Alan", listIds: [] }],
  [400, "a field invalid", "/v2/contacts", { ...v2Contact(), identifiers: [fax] }],
  [400, "page invalid", "/v2/lists?page=-1"],
  [400, "limit invalid", "/v2/lists?limit=-1"],
  [400, "unrecognized field", CREATE, { ...contact, firstName: "New" }],
  [400, "neither e-mail nor phone", CREATE, { first_name: "New" }],
  [400, "more than 30 custom properties", CREATE, { ...contact, custom_properties: tooMany }],
  [400, "wrapped body", ADD, { contact }],
  [400, "array body", ADD, [contact]],
  [404, "no contact has the id", "/api/v1/customer/nobody"],
  [404, "no list has the id", "/api/v1/contact-groups/nothing/contacts", { email: "ada@example.com" }],
];

describe.each(entryPoints)("the errors of the service, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const v2Body = { status: "error", message: expect.any(String) as unknown };

  it.each(rows)("%i: %s on %s", async (status, _, path, body) => {
    const response = await service.send(body === undefined ? "GET" : "POST", path, body);

    expect(response.status).toBe(status);
    if (path.startsWith("/v2/")) expect(response.body).toEqual(v2Body);
    expect(service.contact(contact.email)).toBeUndefined();
  });

  it("500: an unexpected error of the v2 family has the same body, which the client passes on", async () => {
    service.mock.addFault({ kind: "500-before" });
    await expectError(service.clientWith({ maxRetries: 0 }).v2.contacts.upsert(v2Contact()), ServerError, {
      status: 500,
      body: v2Body,
      outcome: "unknown",
    });
    expect(service.contact("alan@example.com")).toBeUndefined();
  });
});

describe.each(v1ErrorBodies)("a v1 error whose body is %s", (v1Error) => {
  const service = useService({ variants: { v1Error } });

  it("has its class and status for any body, and the unchanged body", async () => {
    const error = await failureOf(service.audience.v1.customers.get("nobody"));
    const { body } = await service.send("GET", "/api/v1/customer/nobody");

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, code: "not_found", outcome: "not-applied" });
    const shown = error instanceof ApiError ? error.body : "no ApiError";
    expect(shown === undefined ? "" : shown).toEqual(body);
  });
});
