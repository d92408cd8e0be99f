import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf, thrownBy } from "./failure.ts";

describe("Headers, of the client and of a call,", () => {
  it.each<[string, Record<string, string>]>([
    [
      "given twice in different letter case, because one of the two would be lost",
      { "X-Team": "crm", "x-team": "sales" },
    ],
    // Safe: the text of JSON holds strings. A literal would set the prototype.
    [
      "named __proto__, because a runtime's fetch drops it",
      JSON.parse('{"__proto__":"x"}') as Record<string, string>,
    ],
  ])("are refused if one is %s", async (_, headers) => {
    const mock = createMockService();

    expect(thrownBy(() => new AudienceClient({ ...mock.clientOptions, headers }))).toBeInstanceOf(
      ConfigurationError,
    );
    expect(
      await failureOf(new AudienceClient(mock.clientOptions).v1.customers.get("c-1", { headers })),
    ).toBeInstanceOf(ConfigurationError);
    expect(mock.requests).toEqual([]);
  });

  it("may be an object of another implementation, which is iterable, and no instance of the global class", async () => {
    const mock = createMockService();
    // As the Headers of npm's undici or node-fetch: without properties.
    class ForeignHeaders {
      *[Symbol.iterator]() {
        yield ["X-Trace", "t-1"];
      }
    }
    const headers = new ForeignHeaders() as unknown as Headers;

    await new AudienceClient({ ...mock.clientOptions, headers }).v1.customers.list();
    await new AudienceClient(mock.clientOptions).v1.customers.get("c-1", { headers }).catch(() => "404");

    expect(mock.requests.map((request) => request.headers["x-trace"])).toEqual(["t-1", "t-1"]);
  });
});
