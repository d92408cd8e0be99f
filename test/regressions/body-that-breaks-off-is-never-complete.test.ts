import { AudienceClient, ConnectionError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it("A body that breaks off without a reason is never a complete response", async () => {
  const body = new ReadableStream({ start: (controller) => controller.error() });
  const fetch = async () => new Response(body, { status: 200 });
  const audience = new AudienceClient({ ...offline, fetch });

  const sending = audience.v1.events.send({ eventName: "signed_up", contact: { email: "ada@example.com" } });

  await expect(sending).rejects.toThrow(ConnectionError);
  await expect(sending).rejects.toMatchObject({
    outcome: "unknown",
    cause: { message: "the body broke off: no reason was given" },
  });
});
