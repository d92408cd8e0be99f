// The website: a POST of an address to /subscribe or /unsubscribe changes the consent of a person. Put it behind your
// sign-in, or a link in a mail of yours: it takes the address as confirmed.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { isAudienceError, type V1OptIn } from "audience-sdk";
import { v1ContactSchema } from "audience-sdk/schemas";
import { connect } from "./connect.ts";

const { audience, people, close } = await connect();
const consents = new Map<string, V1OptIn>([
  ["/subscribe", "SUBSCRIBED"],
  ["/unsubscribe", "UNSUBSCRIBED"],
]);

async function answer(path: string, email: string): Promise<number> {
  const consent = consents.get(path);
  if (consent === undefined) return 404;
  const contact = { email, email_opt_in: consent };
  if (!v1ContactSchema.safeParse(contact).success) return 400; // the table has only what the service takes
  try {
    // First the table, then the service: if the call fails, the job sends the consent. Only a return is then refused again, as
    // the service still shows the refusal: whoever gets a 202 should try once more.
    await people.setConsent(email, consent);
    // It waits two seconds at most beside the job, which leaves room for it.
    await audience.v1.customers.upsert(contact, { priority: 0, deadlineMs: 5_000 });
    return 204;
  } catch (error) {
    console.error(isAudienceError(error) ? `${error.code}, ${error.outcome}` : error);
    return 202;
  }
}

const server = createServer((request, response) => {
  void text(request)
    .then((email) => answer(request.url ?? "", email))
    .then((status) => response.writeHead(status).end());
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => console.log(server.address()));
process.once("SIGTERM", () => void server.close(() => void close()));
