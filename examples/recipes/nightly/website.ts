// The website: its form subscribes a person, its link unsubscribes them.
import { createServer } from "node:http";
import { isAudienceError } from "audience-sdk";
import { connect } from "./connect.ts";

const { audience, people, close } = await connect();
const consents = { "/subscribe": "SUBSCRIBED", "/unsubscribe": "UNSUBSCRIBED" } as const;

async function answer(path: string, email: string): Promise<number> {
  const consent = Object.entries(consents).find(([name]) => name === path)?.[1];
  if (consent === undefined) return 404;
  try {
    // First the table, then the service: if the call fails, the job sends the consent tonight.
    await people.setConsent(email, consent);
    // It waits two seconds at most beside the job, which leaves room for it.
    await audience.v1.customers.upsert({ email, email_opt_in: consent }, { priority: 0, deadlineMs: 10_000 });
    return 204;
  } catch (error) {
    console.error(isAudienceError(error) ? `${error.code}, ${error.outcome}` : error);
    return 202;
  }
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  void answer(pathname, searchParams.get("email") ?? "").then((status) => response.writeHead(status).end());
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => console.log(server.address()));
process.once("SIGTERM", () => void server.close(() => void close()));
