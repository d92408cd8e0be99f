import { AudienceClient, ConnectionError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it("A Response.error() is a failed connection whose outcome is unknown", async () => {
  const audience = new AudienceClient({ ...offline, fetch: async () => Response.error() });

  const sending = audience.v1.events.send({ eventName: "signed_up", contact: { email: "ada@example.com" } });

  await expect(sending).rejects.toThrow(ConnectionError);
  await expect(sending).rejects.toMatchObject({ outcome: "unknown" });
});
