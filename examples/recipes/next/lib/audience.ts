import { AudienceClient } from "audience-sdk";

let client: AudienceClient | undefined;

/** The client, made at the first call: `next build` loads this file too, and has no secrets. */
export function audience(): AudienceClient {
  return (client ??= new AudienceClient({
    // Next 14 keeps the answers to GETs on disk: without this, a page goes on showing SUBSCRIBED after an opt-out.
    fetch: (url, init) => fetch(url, { ...init, cache: "no-store" }),
    // A person waits for each call.
    deadlineMs: 5_000,
    logger: console,
  }));
}
