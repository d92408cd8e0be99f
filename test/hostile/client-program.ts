// A client in a process of its own, with an IPC channel to its parent.
import { AudienceClient, isAudienceError } from "audience-sdk";
import type { CallName, ClientResult, ClientRequest } from "./client-process.ts";

const highestMb = () => process.resourceUsage().maxRSS / 1_000;
const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(String(reason)));

const calls: Record<CallName, (audience: AudienceClient) => PromiseLike<unknown>> = {
  read: ({ v1 }) => v1.customers.get("c-1"),
  // Without its opt-in the write is not repeatable.
  write: ({ v1 }) => v1.customers.upsert({ email: "ada@example.com" }),
  event: ({ v1 }) => v1.events.send({ eventName: "order placed", contact: { contactUUID: "c-1" } }),
  list: ({ v1 }) => v1.customers.list().toArray({ max: 1_000 }),
};

async function response({ call, options }: ClientRequest): Promise<ClientResult> {
  const audience = new AudienceClient(options);
  const ended = await calls[call](audience).then(
    (value) => ({ value: JSON.stringify(value).slice(0, 1_000) }),
    (error: unknown) => {
      if (!isAudienceError(error)) throw error;
      const { body: _, ...shown } = error.toJSON();
      return { error: shown };
    },
  );
  await new Promise((resolve) => setImmediate(resolve));
  return { ...ended, highestMb: highestMb(), unhandled };
}

process.on("message", (question: ClientRequest) => {
  void response(question).then((ending) => process.send?.(ending));
});
process.send?.(highestMb());
