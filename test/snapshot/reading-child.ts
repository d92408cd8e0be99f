// One life of a read: URL KEY FILE
import { AudienceClient } from "audience-sdk";
import { readSnapshot } from "audience-sdk/snapshot";

const [url = "", apiKey = "", file = ""] = process.argv.slice(2);
const audience = new AudienceClient({ baseUrl: url, apiKey, rateLimiter: false });
const today = await readSnapshot(audience, { file });
console.log(JSON.stringify({ size: today.size, complete: today.complete }));
