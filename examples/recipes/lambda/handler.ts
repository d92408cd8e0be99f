import { AudienceClient, isAudienceError, RateLimiter, type V1Event } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { Redis } from "ioredis";

// Outside of the handler: all invocations of an instance share the client, its limiter and its connections.
const redis = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379");
redis.on("error", (error) => console.error(`Redis: ${error.message}`));
// Instances are processes. Behind one NAT gateway they share one IP address, so they share one budget.
const rateLimiter = new RateLimiter({ store: redisRateLimitStore(redis, { onUnavailable: "reject" }) });
const audience = new AudienceClient({ rateLimiter });

interface Message {
  readonly messageId: string;
  readonly body: string;
}

interface Context {
  getRemainingTimeInMillis(): number;
}

interface Failures {
  readonly batchItemFailures: { itemIdentifier: string }[];
}

/** Sends the events of an SQS queue, with "Report batch item failures": what fails returns to the queue alone. */
export async function handler({ Records }: { Records: Message[] }, context: Context): Promise<Failures> {
  // One second before Lambda halts the process: an error with an outcome instead.
  const deadlineMs = Math.max(1, context.getRemainingTimeInMillis() - 1_000);
  // Each call is awaited: after the handler has returned, Lambda halts the process.
  const sent = await Promise.all(Records.map((message) => send(message, deadlineMs)));
  return { batchItemFailures: Records.filter((_, at) => !sent[at]).map(toFailure) };
}

/** Whether the message is done with. Sending it again is safe, as its id names the event. */
async function send({ messageId, body }: Message, deadlineMs: number): Promise<boolean> {
  try {
    const event = JSON.parse(body) as V1Event; // the client validates it
    const uniqueIdentifier = event.uniqueIdentifier ?? messageId;
    // A wait costs money: over ten seconds, the message waits in the queue instead.
    await audience.v1.events.send({ ...event, uniqueIdentifier }, { deadlineMs, maxWaitMs: 10_000 });
    return true;
  } catch (error) {
    // The error names no key. Its message may name a contact.
    if (isAudienceError(error)) console.error(messageId, error.code, error.outcome);
    else console.error(messageId, error);
    return false;
  }
}

function toFailure({ messageId }: Message): { itemIdentifier: string } {
  return { itemIdentifier: messageId };
}
