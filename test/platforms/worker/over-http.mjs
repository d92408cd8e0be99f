// As in the guide, the client is constructed inside the handler. The response is the contact's id.
import { AudienceClient } from "audience-sdk";

export default {
  async fetch(request, { BASE_URL, API_KEY }) {
    const audience = new AudienceClient({ baseUrl: BASE_URL, apiKey: API_KEY });
    const calls = Number(new URL(request.url).searchParams.get("calls"));
    const names = Array.from({ length: calls }, () => `${crypto.randomUUID()}@example.com`);
    const write = (email) => audience.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" });
    const profiles = await Promise.all(names.map(write));
    return Response.json(profiles.map(({ attributes }) => attributes.email).join() === names.join());
  },
};
