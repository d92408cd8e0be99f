import { ApiError, NotFoundError, ServerError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { v1ErrorBodies } from "../chaos/service.ts";
import { failureOf } from "../transport/failure.ts";
import { expectError, useService, v2Contact } from "./service.ts";

// The tests of each endpoint try what it answers with 400 and 404, `authentication.test.ts` has 401.
describe("an unexpected error", () => {
  const service = useService();

  it("of the v2 family is a 500 with its error body, which the client passes on", async () => {
    service.mock.addFault({ kind: "500-before" });
    await expectError(service.clientWith({ maxRetries: 0 }).v2.contacts.upsert(v2Contact()), ServerError, {
      status: 500,
      body: { status: "error", message: expect.any(String) },
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
