import { AudienceClient } from "audience-sdk";
import { createMockService, type MockFaultKind } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf } from "./failure.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

/** A function of the user that awaits a call. The tests look for its name. */
async function importCustomers(call: () => PromiseLike<unknown>): Promise<unknown> {
  return await call();
}

/** The stack of the error, after the user's function has awaited something else, so that only an async stack shows it. */
async function stackOf(call: () => PromiseLike<unknown>): Promise<string> {
  const { stack } = await failureOf(
    importCustomers(async () => {
      await Promise.resolve();
      return await call();
    }),
  );
  return stack ?? "";
}

function setting(fault?: MockFaultKind) {
  const mock = createMockService(fault ? { faults: [{ kind: fault }] } : {});
  return new AudienceClient({ ...mock.clientOptions, maxRetries: 0 });
}

describe("The stack of an error shows the line of the user's code that awaited the call", () => {
  const refused = () =>
    Promise.reject(Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" }));

  it.each<[string, () => PromiseLike<unknown>]>([
    ["of invalid input", () => setting().v1.customers.upsert({ email: "nobody" })],
    ["of an error status", () => setting().v1.customers.get("nobody")],
    [
      "of an error status, after retries",
      () => setting("500-before").v1.customers.get("c", { maxRetries: 1 }),
    ],
    ["of a write's error status", () => setting("500-before").v1.customers.upsert(contact)],
    ["of an unexpected response", () => setting("wrong-json").v1.customers.upsert(contact)],
    ["of a redirect", () => setting("redirect").v1.customers.upsert(contact)],
    ["of a timeout", () => setting("hang").v1.customers.upsert(contact, { timeoutMs: 20 })],
    ["of a deadline", () => setting("hang").v1.customers.upsert(contact, { deadlineMs: 20 })],
    ["of an abort", () => setting("hang").v1.customers.upsert(contact, { signal: AbortSignal.timeout(20) })],
    [
      "of a connection",
      () => new AudienceClient({ ...options(), fetch: refused, maxRetries: 0 }).v1.customers.upsert(contact),
    ],
    ["of a call whose response is asked for", () => setting().v1.customers.get("nobody").withResponse()],
    ["of a list's one page", () => setting("500-before").v1.customers.list()],
    ["of a list's items", () => firstOf(setting("500-before").v1.customers.list())],
    ["of a list's pages", () => firstOf(setting("500-before").v1.customers.list().pages())],
    ["of a list as an array", () => setting("500-before").v1.customers.list().toArray()],
  ])("%s", async (_what, call) => {
    expect(await stackOf(call)).toContain("importCustomers");
  });

  it("and begins with the error's name and message", async () => {
    const stack = await stackOf(() => setting().v1.customers.get("nobody"));

    expect(stack).toMatch(/^NotFoundError: 404 on GET \/api\/v1\/customer\/\{id\}/);
  });
});

function options() {
  return createMockService().clientOptions;
}

async function firstOf(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item;
  return undefined;
}
