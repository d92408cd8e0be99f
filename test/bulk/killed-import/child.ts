// One life of an import: URL KEY CHECKPOINT ROWS CONCURRENCY
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { importRow, importRows } from "./rows.ts";

const [url = "", apiKey = "", checkpoint = "", count = "", concurrency = ""] = process.argv.slice(2);
const audience = new AudienceClient({ baseUrl: url, apiKey, rateLimiter: false });
const run = audience.bulk(importRows(Number(count)), importRow, {
  key: ({ id }) => id,
  checkpoint: fileCheckpoint(checkpoint),
  concurrency: Number(concurrency),
});
const unknown: string[] = [];
for await (const result of run) {
  if (result.status === "unknown") unknown.push(result.item.id);
  else if (result.error !== undefined) console.error(result.index, result.error);
}
console.log(JSON.stringify({ ...(await run.summary()), ids: unknown }));
