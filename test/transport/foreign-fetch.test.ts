import { AudienceClient, type Fetch } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { fetch as undiciFetch } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const profile = { data: { type: "profile", id: "c-1", attributes: { email: contact.email } } };

/** A response of another fetch implementation: it has all properties of a Response, but another class. */
function foreign(response: Response): Response {
  const { status, ok, headers, url, body } = response;
  // The client uses only these properties, and never the class.
  return { status, ok, headers, url, body } as Response;
}

describe("The option `fetch`", () => {
  it.each([
    ["of this realm", (response: Response) => response],
    ["of another implementation", foreign],
  ])("gives a Response %s, is asked once, and given (url, init) with key and body", async (_whose, of) => {
    const sent: Parameters<Fetch>[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "key-1234567890",
      rateLimiter: false,
      fetch: async (...request) => {
        sent.push(request);
        return of(Response.json(profile, { status: 201 }));
      },
    });

    const { data, response } = await audience.v1.customers.upsert(contact).withResponse();

    expect(data.id).toBe("c-1");
    expect(response.status).toBe(201);
    expect(sent).toEqual([
      [
        "https://api.example.com/api/v1/customer/create",
        expect.objectContaining({
          method: "POST",
          redirect: "manual",
          body: JSON.stringify(contact),
          headers: expect.objectContaining({ "x-api-key": "key-1234567890" }) as unknown,
        }),
      ],
    ]);
  });

  it("can be that of npm's undici, which calls the service as the global fetch does", async () => {
    const mock = createMockService();
    const server = await mock.listen();
    onTestFinished(server.close);
    const audience = new AudienceClient({ ...server.clientOptions, fetch: undiciFetch });

    const { id } = await audience.v1.customers.upsert(contact);

    expect((await audience.v1.customers.get(id)).attributes.email).toBe(contact.email);
    expect(mock.requests.map(({ status }) => status)).toEqual([201, 200]);
  });
});
