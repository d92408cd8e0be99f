import { AudienceClient, isAudienceError } from "audience-sdk";
import { DurableObject } from "cloudflare:workers";

interface Bindings {
  AUDIENCE_BASE_URL: string;
  AUDIENCE_API_KEY: string;
}

type Subscribed = { id: string } | { error: string; outcome: string };

/** The one place that makes the calls of all requests, so that one limiter counts them. */
export class AudienceObject extends DurableObject<Bindings> {
  #client: AudienceClient | undefined;

  // An object of this kind outlives the requests, and so may its client.
  get #audience(): AudienceClient {
    const { AUDIENCE_BASE_URL: baseUrl, AUDIENCE_API_KEY: apiKey } = this.env;
    return (this.#client ??= new AudienceClient({ baseUrl, apiKey, deadlineMs: 5_000 }));
  }

  async subscribe(email: string): Promise<Subscribed> {
    try {
      // Anybody could type the address: its owner is asked.
      const contact = { email, email_opt_in: "SUBSCRIBED" as const, double_opt_in: true };
      return { id: (await this.#audience.v1.customers.upsert(contact, { priority: 0 })).id };
    } catch (error) {
      // An error that leaves the object loses its fields.
      if (isAudienceError(error)) return { error: error.code, outcome: error.outcome };
      throw error;
    }
  }
}
