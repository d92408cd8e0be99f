import { AudienceClient } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "./failure.ts";

const clientFor = (body: unknown, status = 200) =>
  new AudienceClient({ ...offline, fetch: async () => Response.json(body, { status }) });

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const channels = { email: { status: "subscribed" } };
const identifiers = [{ type: "email" as const, id: "ada@example.com", channels, consent }];
const contact = { firstName: "Ada", listIds: [], identifiers };

describe("A 2xx that reports a failure", () => {
  it("is an error with the message of the service", async () => {
    const { v2 } = clientFor({ status: false, message: "the contact is blocked" });

    const failure = await failureOf(v2.contacts.upsert(contact));

    expect(failure).toMatchObject({
      code: "unexpected_response",
      outcome: "unknown",
      message:
        "200 on POST /v2/contacts, but its body is not what is documented: status: must be true, not a boolean; the service says: the contact is blocked",
    });
  });

  it("is an error with that message as a list, too", async () => {
    const { v2 } = clientFor({ success: false, data: { lists: [] }, message: "try later" });

    const failure = await failureOf(v2.lists.list());

    expect(failure.message).toBe(
      "200 on GET /v2/lists, but its body holds no lists and says that the call failed; the service says: try later",
    );
  });

  it('is refused for its type, not for its case, if its status is the string "true"', async () => {
    const { v2 } = clientFor({ status: "true" });

    await expect(v2.contacts.upsert(contact)).rejects.toMatchObject({
      name: "UnexpectedResponseError",
      message: expect.stringMatching(/status: must be true, not a string$/) as string,
    });
  });
});

describe("A message of the service", () => {
  it("shows no key and no control characters", async () => {
    const { v2 } = clientFor({ status: false, message: `no access with ${offline.apiKey}\u001b[2J` });

    const { message } = await failureOf(v2.contacts.upsert(contact));

    expect(message).toContain("the service says: no access with [redacted]\\u001b[2J");
  });

  it("has characters escaped that would clear a screen, begin a line in a log, or reverse the text direction", async () => {
    const words = "no\u001b[2J\u009b2J\r\nERROR: all is well\u202elive\u2028";

    const error = await failureOf(clientFor({ message: words }, 400).v1.customers.get("c-1"));

    expect(error.message).toBe(
      "400 on GET /api/v1/customer/{id}: no\\u001b[2J\\u009b2J\\u000d\\nERROR: all is well\\u202elive\\u2028",
    );
    expect(error).toMatchObject({ body: { message: words } });
  });

  it("has names of keys escaped, too", async () => {
    const error = await failureOf(clientFor({ "\u001b[2J": 1 }).v1.customers.list().then(String));

    expect(error.message).toContain("with the keys \\u001b[2J");
  });

  it("keeps letters of every language, and emoji", async () => {
    const words = "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u00fcber \u{1f469}\u200d\u{1f4bb}";

    const error = await failureOf(clientFor({ message: words }, 400).v1.customers.get("c-1"));

    expect(error.message).toBe(`400 on GET /api/v1/customer/{id}: ${words}`);
  });
});
