import type { V1Contact } from "audience-sdk";
import fastify from "fastify";
import { audiencePlugin } from "./audience-plugin.ts";

const app = fastify({ logger: true });
await app.register(audiencePlugin);

app.post("/subscribers", async (request) => {
  const { email } = request.body as Pick<V1Contact, "email">; // the client validates it
  const profile = await app.audience.v1.customers.upsert(
    { email, email_opt_in: "SUBSCRIBED", double_opt_in: true }, // anybody could type the address: its owner is asked
    { priority: 0 },
  );
  return { id: profile.id };
});

process.once("SIGTERM", () => void app.close());
await app.listen({ port: Number(process.env["PORT"] ?? 3000) });
