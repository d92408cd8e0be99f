import type { ClientOptions } from "../client-options.ts";
import { customRequest, type SendCustomRequest } from "../custom-request.ts";
import { familyOf, openClient, type OpenedClient } from "../open-client.ts";
import type { ClientState, CloseOptions } from "../transport/client-state.ts";
import { v2Contacts, type V2Contacts } from "./contacts.ts";
import { v2Lists, type V2Lists } from "./lists.ts";

/**
 * The client of the v2 family: contacts and lists. It takes the options of `AudienceClient`.
 *
 * ```ts
 * const v2 = new V2Client({ baseUrlV2: "https://api.example.com", apiKey: process.env.KEY, appId: "app" });
 * for await (const list of v2.lists.list()) console.log(list.name);
 * ```
 *
 * @throws ConfigurationError if `baseUrlV2`, `appId` or a key is missing, or an option is wrong.
 */
export class V2Client {
  /** Contacts: `upsert`. */
  readonly contacts: V2Contacts;
  /** Lists: `list`. */
  readonly lists: V2Lists;
  /** As `request` of `V1Client`: sends a request to a path within `/v2/…` that no method makes yet. */
  readonly request: SendCustomRequest;
  readonly #client: ClientState;

  constructor(options?: ClientOptions);
  /** @internal */
  constructor(options: ClientOptions | undefined, opened: OpenedClient);
  constructor(options: ClientOptions = {}, opened: OpenedClient = openClient(options)) {
    const { settings, transport } = opened;
    const call = transport.family(familyOf(settings, "v2"));
    this.#client = transport.client;
    this.contacts = v2Contacts(call);
    this.lists = v2Lists(call);
    this.request = customRequest(call, "v2.request");
  }

  /** As `close` of `AudienceClient`: rejects the calls that still wait, or sends them first, with `drain`. */
  close(options?: CloseOptions): Promise<void> {
    return this.#client.close(options);
  }

  /** `await using v2 = new V2Client(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
