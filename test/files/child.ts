// A process that is killed, or limited: node child.mjs checkpoint FILE, or snapshot FILE [URL KEY]
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot } from "audience-sdk/snapshot";

const [kind, file = "", baseUrl = "https://api.example", apiKey = "mock-key-acme"] = process.argv.slice(2);
if (kind === "checkpoint") {
  const open = await fileCheckpoint(file).open();
  for await (const _ of open.entries) continue;
  await open.put("row:1", "next", { flush: false });
} else {
  const audience = new AudienceClient({ baseUrl, apiKey, rateLimiter: false });
  const { size, complete } = await readSnapshot(audience, { file });
  console.log(JSON.stringify({ size, complete }));
}
