// With every option given, a client needs no permission of the runtime, such as that to read the environment.
import { AudienceClient } from "audience-sdk";

const fetch = async () => new Response('{"data":{"id":"c-1"}}');
const audience = new AudienceClient({
  baseUrl: "https://api.example.com",
  apiKey: "a-key-that-is-long",
  fetch,
});
const { id } = await audience.v1.customers.get("c-1");
console.log(JSON.stringify({ id }));
