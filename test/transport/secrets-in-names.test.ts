import { inspect } from "node:util";
import { AudienceClient, isAudienceError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const key = "sk-live-9f8e7d6c5b4a3210";
const options = { ...offline, apiKey: key };
const audience = new AudienceClient(options);

/** The error of a call, or of a constructor that throws at once. */
async function failureOf(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    return error;
  }
}

describe("A key in the place of a name is not shown", () => {
  it.each([
    ["a field", () => audience.v1.customers.upsert({ email: "ada@example.com", [key]: 1 } as never)],
    [
      "a field of an event's data",
      () =>
        audience.v1.events.send({ eventName: "x", contact: { email: "a@b" }, eventData: { [key]: null } }),
    ],
    [
      "a custom property",
      () => audience.v1.customers.upsert({ email: "a@b", custom_properties: { [key]: null as never } }),
    ],
    ["a parameter of a list's query", () => audience.v1.customers.list({ [key]: 1 } as never)],
    ["an option", () => audience.v1.customers.get("ada", { [key]: 1 } as never)],
    ["a header", () => audience.v1.customers.get("ada", { headers: { [key]: 1 as never } })],
    [
      "a header's name with its value",
      () => audience.v1.customers.get("ada", { headers: { [`x-api-key: ${key}`]: "" } }),
    ],
    [
      "a header of the client",
      () => new AudienceClient({ ...options, headers: { [`x-api-key: ${key}`]: "" } }),
    ],
  ])("%s", async (_place, call) => {
    const error = await failureOf(call);

    expect(isAudienceError(error)).toBe(true);
    for (const shown of [inspect(error, { depth: null }), JSON.stringify(error), (error as Error).stack]) {
      for (let at = 0; at + 8 <= key.length; at++) expect(shown).not.toContain(key.slice(at, at + 8));
    }
  });
});

it("Any other unknown name is shown unchanged", async () => {
  const error = await failureOf(() =>
    audience.v1.customers.upsert({ email: "ada@example.com", shoe: 43 } as never),
  );

  expect(error).toMatchObject({ code: "validation", issues: [{ path: ["shoe"] }] });
});
