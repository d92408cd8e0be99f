import type { ClientOptions } from "../client-options.ts";
import { customRequest, type SendCustomRequest } from "../custom-request.ts";
import { familyOf, openClient, type OpenedClient } from "../open-client.ts";
import type { ClientState, CloseOptions } from "../transport/client-state.ts";
import { v1ContactGroups, type V1ContactGroups } from "./contact-groups.ts";
import { v1Customers, type V1Customers } from "./customers.ts";
import { v1Events, type V1Events } from "./events.ts";

/**
 * The client of the v1 family: customers, contact groups, events. It takes the options of `AudienceClient`.
 *
 * ```ts
 * const v1 = new V1Client({ baseUrl: "https://api.example.com", apiKey: process.env.KEY });
 * const profile = await v1.customers.get(id);
 * ```
 *
 * @throws ConfigurationError if `baseUrl` or `apiKey` is missing, or an option is wrong.
 */
export class V1Client {
  /** Contacts: `upsert`, `get`, `list`. */
  readonly customers: V1Customers;
  /** Lists and segments: `list`, `get`, `addContact`. */
  readonly contactGroups: V1ContactGroups;
  /** Custom events: `send`. */
  readonly events: V1Events;
  /**
   * Sends a request that no method makes yet: a new path, or a new field. It has the family's authentication, rate
   * limit, retries, errors and hooks, and resolves to the parsed body of the response.
   *
   * A write is not repeated after a lost response, unless the options have `repeatable: true`. Name the contact that it
   * changes as `contact`: the body of a path that is not documented is not read.
   *
   * ```ts
   * const contact = { email: "ada@example.com" };
   * await audience.v1.request({ method: "POST", path: "/api/v1/new-path", body: contact, contact });
   * ```
   *
   * @throws ValidationError if the path lies outside of `/api/v1/…`, or JSON cannot carry the body: nothing is sent.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  readonly request: SendCustomRequest;
  readonly #client: ClientState;

  constructor(options?: ClientOptions);
  /** @internal */
  constructor(options: ClientOptions | undefined, opened: OpenedClient);
  constructor(options: ClientOptions = {}, opened: OpenedClient = openClient(options)) {
    const { settings, transport } = opened;
    const call = transport.family(familyOf(settings, "v1"));
    this.#client = transport.client;
    this.customers = v1Customers(call, settings.parsePage);
    this.contactGroups = v1ContactGroups(call, settings.parsePage);
    this.events = v1Events(call, transport.client.redactor);
    this.request = customRequest(call, "v1.request");
  }

  /** As `close` of `AudienceClient`: rejects the calls that still wait, or sends them first, with `drain`. */
  close(options?: CloseOptions): Promise<void> {
    return this.#client.close(options);
  }

  /** `await using v1 = new V1Client(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
