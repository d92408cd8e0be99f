// A client in a process of its own, with an IPC channel to its parent.
import { AudienceClient, isAudienceError, type ClientOptions } from "audience-sdk";
import type { FailedWrite } from "./client-process.ts";

const highestMb = () => process.resourceUsage().maxRSS / 1_000;
const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(String(reason)));

async function failedWrite(options: ClientOptions): Promise<FailedWrite> {
  const { v1 } = new AudienceClient(options);
  const error: unknown = await v1.customers
    .upsert({ email: "ada@example.com" })
    .catch((reason: unknown) => reason);
  await new Promise((resolve) => setImmediate(resolve));
  const { body: _, ...shown } = isAudienceError(error) ? error.toJSON() : { value: error };
  return { error: shown, highestMb: highestMb(), unhandled };
}

process.on("message", (options: ClientOptions) => {
  void failedWrite(options).then((end) => process.send?.(end));
});
process.send?.(highestMb());
