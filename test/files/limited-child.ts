// Replaces a file whose new content passes the limit of the process: node child.mjs checkpoint|snapshot FILE
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { readSnapshot } from "audience-sdk/snapshot";

const [kind, file = ""] = process.argv.slice(2);
if (kind === "checkpoint") {
  const open = await fileCheckpoint(file).open();
  for await (const _ of open.entries) continue;
  await open.put("row:1", "next", { flush: false });
} else {
  // Its last page has come: only the file is to be finished.
  const audience = new AudienceClient({ baseUrl: "https://api.example", apiKey: "mock-key-acme" });
  await readSnapshot(audience, { file });
}
