import { AudienceClient, isAudienceError } from "audience-sdk";
import fastifyPlugin from "fastify-plugin";

declare module "fastify" {
  interface FastifyInstance {
    audience: AudienceClient;
  }
}

/** One client for the whole server, as `app.audience`. */
export const audiencePlugin = fastifyPlugin(async (app) => {
  // A person waits for each call: none takes longer than this, so that the server can also stop in time.
  const audience = new AudienceClient({ deadlineMs: 5_000, logger: app.log });
  app.decorate("audience", audience);
  // Fastify calls it when the requests in flight have ended.
  app.addHook("onClose", () => audience.close({ drain: true, timeoutMs: 2_000 }));
  // Fastify waits for open connections, and a request in flight would keep its own for 72 seconds more.
  let isClosing = false;
  app.addHook("preClose", async () => void (isClosing = true));
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
  app.setErrorHandler(async (error, _request, reply) => {
    if (!isAudienceError(error)) throw error;
    if (error.code === "validation") return reply.code(400).send({ issues: error.issues });
    app.log.error(error);
    // "unknown": the service may have carried it out.
    return reply.code(503).send({ outcome: error.outcome });
  });
});
