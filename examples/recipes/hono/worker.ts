import { AudienceClient, isAudienceError } from "audience-sdk";
import { Hono } from "hono";
import type { AudienceObject } from "./audience-object.ts";

interface Bindings {
  AUDIENCE_BASE_URL: string;
  AUDIENCE_API_KEY: string;
  AUDIENCE_OBJECT: DurableObjectNamespace<AudienceObject>;
}

const app = new Hono<{ Bindings: Bindings; Variables: { audience: AudienceClient } }>();

// A client for each request: on Workers, timers and connections end with the request that began them.
app.use(async (c, next) => {
  const { AUDIENCE_BASE_URL: baseUrl, AUDIENCE_API_KEY: apiKey } = c.env;
  c.set("audience", new AudienceClient({ baseUrl, apiKey, deadlineMs: 5_000 }));
  await next();
});

app.onError((error, c) => {
  if (!isAudienceError(error)) throw error;
  if (error.code === "validation") return c.json({ issues: error.issues }, 400);
  return c.json({ outcome: error.outcome }, 503);
});

app.get("/subscribers/:id", async (c) => {
  const { attributes } = await c.get("audience").v1.customers.get(c.req.param("id"));
  return c.json({ email: attributes.email, emailOptIn: attributes.email_opt_in });
});

// Through the one object: its client counts the calls of all requests.
app.post("/subscribers", async (c) => {
  const { email } = await c.req.json<{ email: string }>();
  const id = c.env.AUDIENCE_OBJECT.idFromName("the only one");
  const subscribed = await c.env.AUDIENCE_OBJECT.get(id).subscribe(email);
  if ("id" in subscribed) return c.json(subscribed);
  return c.json(subscribed, subscribed.error === "validation" ? 400 : 503);
});

export default app;
export { AudienceObject } from "./audience-object.ts";
