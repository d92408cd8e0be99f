import { BadRequestError, ServerError, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import {
  emailIdentifier,
  errorOf,
  expectNotSent,
  phoneIdentifier,
  untyped,
  useService,
  v2Contact,
} from "./service.ts";

describe.each(entryPoints)("v2.contacts.upsert, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const upsert = (...args: Parameters<typeof service.audience.v2.contacts.upsert>) =>
    service.audience.v2.contacts.upsert(...args);

  it("sends the contact as JSON with the v2 key and the app id", async () => {
    await upsert(v2Contact());

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v2.contacts.upsert",
        method: "POST",
        path: "/v2/contacts",
        query: {},
        headers: {
          "content-type": expect.stringMatching(/^application\/json\b/),
          "service-api-key": "acme-mock-key-v2",
          "service-app-id": "acme-mock-app",
        },
        body: v2Contact(),
        applied: true,
      },
    ]);
  });

  it("succeeds with 200 and status true", async () => {
    const { data, response } = await upsert(v2Contact()).withResponse();

    expect(response.status).toBe(200);
    expect(data).toEqual({ status: true });
  });

  it("creates a contact where no identifier matches, which the v1 family returns too", async () => {
    await upsert(v2Contact());
    const { id = "" } = service.contact("alan@example.com") ?? {};
    expect((await service.audience.v1.customers.get(id)).attributes.first_name).toBe("Alan");

    expect(service.state().contacts).toHaveLength(3);
    expect(service.contact("alan@example.com")).toMatchObject({
      first_name: "Alan",
      email_opt_in: "SUBSCRIBED",
    });
  });

  it.each([
    ["e-mail", [emailIdentifier("ada@example.com")]],
    ["e-mail in another case", [emailIdentifier("ADA@example.com")]],
    ["phone", [phoneIdentifier("+390111111")]],
    ["e-mail and phone", [emailIdentifier("ada@example.com"), phoneIdentifier("+390111111")]],
    ["second identifier", [emailIdentifier("augusta@example.com"), phoneIdentifier("+390111111")]],
    ["second e-mail", [emailIdentifier("augusta@example.com"), emailIdentifier("ada@example.com")]],
  ])("updates the contact that matches by %s", async (_, identifiers) => {
    await upsert(v2Contact({ identifiers }));

    expect(service.state().contacts).toHaveLength(2);
    expect(service.state().contacts[0]).toMatchObject({ id: "ada", first_name: "Alan" });
  });

  it("a new contact needs an e-mail: an unknown phone alone is sent, and is a BadRequestError", async () => {
    const error = await errorOf(upsert(v2Contact({ identifiers: [phoneIdentifier("7654321")] })));

    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      outcome: "not-applied",
      body: { status: "error", message: expect.stringContaining("email") },
    });
    expect(service.mock.requests).toMatchObject([{ status: 400, applied: false }]);
    expect(service.state().contacts).toHaveLength(2);
  });

  it("a 500 is a ServerError whose outcome is unknown", async () => {
    service.mock.addFault({ kind: "500-after", operation: "v2.contacts.upsert" });
    const error = await errorOf(upsert(v2Contact(), { maxRetries: 0 }));

    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({
      status: 500,
      outcome: "unknown",
      body: { status: "error", message: expect.any(String) },
    });
    expect(service.contact("alan@example.com")).toBeDefined();
  });

  it("a 200 without status true is an UnexpectedResponseError", async () => {
    service.mock.addFault({ kind: "wrong-json", operation: "v2.contacts.upsert" });
    const error = await errorOf(upsert(v2Contact()));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ status: 200, outcome: "unknown" });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "alan@example.com"],
    ["an array", [v2Contact()]],
  ])("%s is refused as a contact, and not sent", async (_, contact) => {
    await expectNotSent(service, upsert(untyped(contact)), "");
  });
});
