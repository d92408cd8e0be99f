import { AudienceClient } from "audience-sdk";
import { expect, it, vi } from "vitest";
import { json, profileResponse, serve } from "../transport/served.ts";

it("On Deno, whose fetch resends a string silently, a body is sent as a stream with the same bytes", async () => {
  const { options, received } = await serve((outgoing) => json(outgoing, 201, profileResponse));
  const audience = new AudienceClient(options);
  const contact = { email: "ada@example.com", first_name: "Adá", email_opt_in: "SUBSCRIBED" } as const;

  await audience.v1.customers.upsert(contact);
  vi.stubGlobal("Deno", {});
  await audience.v1.customers.upsert(contact);
  await audience.v1.customers.get("c-1");
  vi.unstubAllGlobals();

  const sent = received.map(({ headers, body }) => [headers["transfer-encoding"], body]);
  expect(sent).toEqual([
    [undefined, JSON.stringify(contact)],
    ["chunked", JSON.stringify(contact)],
    [undefined, ""],
  ]);
});
