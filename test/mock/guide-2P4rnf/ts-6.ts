import { strict as assert } from "node:assert";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

// Your endpoint, as in Hono, Next.js and every framework that knows Request and Response.
const thanked: string[] = [];
async function endpoint(request: Request): Promise<Response> {
  const body: { contact?: { email?: string } } = await request.json();
  if (body.contact?.email === undefined) return new Response("no contact", { status: 400 });
  thanked.push(body.contact.email);
  return new Response(null, { status: 204 });
}

const mock = createMockService({
  organizations: [
    {
      id: "acme",
      apiKeys: ["acme-key"],
      appId: "acme-app",
      automations: [
        { name: "Thanks", on: { event: "order placed" }, webhook: { url: "http://localhost:3000/hooks" } },
      ],
    },
  ],
  webhookFetch: (url, init) => endpoint(new Request(url, init)),
});
const audience = new AudienceClient(mock.clientOptions);

await audience.v1.events.send({ eventName: "order placed", contact: { email: "ada@example.com" } });
await mock.settled();

assert.deepEqual(thanked, ["ada@example.com"]);
assert.equal(mock.organization("acme").webhookCalls[0]?.status, 204);
