import { ApiError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { v1ErrorBodies } from "../chaos/service.ts";
import { failureOf } from "../transport/failure.ts";
import { useService } from "./service.ts";

// The tests of each endpoint try what it answers with 400 and 404, `authentication.test.ts` has 401.
describe.each(v1ErrorBodies)("a v1 error whose body is %s", (v1Error) => {
  const service = useService({ variants: { v1Error } });

  it("has its class and status for any body, and the unchanged body", async () => {
    const error = await failureOf(service.audience.v1.customers.get("nobody"));
    const { body } = await service.send("GET", "/api/v1/customer/nobody");

    expect(error).toMatchObject({ status: 404, code: "not_found", outcome: "not-applied" });
    const shown = error instanceof ApiError ? error.body : "no ApiError";
    expect(shown === undefined ? "" : shown).toEqual(body);
  });
});
