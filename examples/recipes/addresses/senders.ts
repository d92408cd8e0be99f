import { createHash } from "node:crypto";
import { AudienceClient, type ClientOptions, RateLimiter } from "audience-sdk";
import { type Checkpoint, fileCheckpoint } from "audience-sdk/checkpoint";
import { Agent, fetch } from "undici";

/** What calls from one address of this machine. */
export interface Sender {
  readonly audience: AudienceClient;
  readonly checkpoint: Checkpoint;
}

/** A client, a limit and a checkpoint for each address, where the operator of the service agrees to several. */
export function sendersOf(addresses: readonly string[], options: ClientOptions = {}): Sender[] {
  return addresses.map((localAddress) => {
    const dispatcher = new Agent({ localAddress });
    const audience = new AudienceClient({
      ...options,
      rateLimiter: new RateLimiter(),
      fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    });
    return { audience, checkpoint: fileCheckpoint(`nightly-${localAddress}.ckpt`) };
  });
}

/** The sender of a person: always the same one, so that her writes stay in order. */
export function senderOf(senders: readonly Sender[], person: string): Sender {
  const hash = createHash("sha256").update(person).digest().readUInt32BE();
  return senders[hash % senders.length]!;
}
