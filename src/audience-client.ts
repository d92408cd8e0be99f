import { createBulk, type Bulk } from "./bulk/bulk.ts";
import type { ClientOptions } from "./client-options.ts";
import { openClient, viewOptions, type OpenedClient } from "./open-client.ts";
import { sendWrite } from "./prepare-write.ts";
import type { RateLimiter } from "./rate-limiter/rate-limiter.ts";
import type { ApiPromise } from "./transport/api-promise.ts";
import type { CallOptions } from "./transport/call-options.ts";
import type { ClientState, CloseOptions } from "./transport/client-state.ts";
import { V1Client } from "./v1/v1-client.ts";
import { V2Client } from "./v2/v2-client.ts";
import type { Write, WriteValues } from "./write.ts";

/**
 * The client of the service: both API families over one transport, within the rate limits, with checked input.
 *
 * The environment may give the options. An option that only one family needs is required when that family is used.
 *
 * ```ts
 * const audience = new AudienceClient({ baseUrl: "https://api.example.com", apiKey: process.env.KEY });
 * const profile = await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
 * ```
 *
 * @throws ConfigurationError if an option is wrong; the message names it.
 */
export class AudienceClient {
  readonly #opened: OpenedClient;
  #v1: V1Client | undefined;
  #v2: V2Client | undefined;
  /** Sends many rows, a few at a time: `audience.bulk(rows, call, options)`, and `audience.bulk.check(rows, check)`. */
  readonly bulk: Bulk;

  constructor(options?: ClientOptions);
  /** @internal */
  constructor(options: ClientOptions, state: ClientState);
  constructor(options: ClientOptions = {}, state?: ClientState) {
    this.#opened = openClient(options, state);
    this.bulk = createBulk(this.#opened);
  }

  /** The v1 family: customers, contact groups, events. Throws a `ConfigurationError` without `baseUrl` or `apiKey`. */
  get v1(): V1Client {
    return (this.#v1 ??= new V1Client(undefined, this.#opened));
  }

  /** The v2 family: contacts and lists. Throws a `ConfigurationError` without `baseUrlV2`, `appId` or a key. */
  get v2(): V2Client {
    return (this.#v2 ??= new V2Client(undefined, this.#opened));
  }

  /** The rate limiter of the calls; undefined if the option `rateLimiter` is `false`. */
  get rateLimiter(): RateLimiter | undefined {
    return this.#client.limiter.current;
  }

  /**
   * Sends one write that was made as a value, as its direct call does: for queues and outboxes. The options go before those
   * of the write.
   *
   * ```ts
   * const job = write.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });
   * const profile = await audience.send(job, { priority: 9 });
   * ```
   *
   * @throws ValidationError if it is no write, if what it sends is invalid, or if an event has no `uniqueIdentifier`: a job may
   *   be tried twice, and would be two events.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  readonly send = <Operation extends Write["operation"]>(
    write: Write & { readonly operation: Operation },
    options?: CallOptions,
  ): ApiPromise<WriteValues[Operation]> =>
    // Safe: the endpoint of the write's operation has decoded the response.
    sendWrite(this.#opened, write, options) as ApiPromise<WriteValues[Operation]>;

  /**
   * Returns a view of this client with other options: the same limiter, the same order of writes, the same `close()`.
   * The view's headers are added to those of this client. For another organization build another client, as views share what
   * they know of contacts.
   *
   * ```ts
   * const patient = audience.withOptions({ timeoutMs: 120_000, maxRetries: 0 });
   * ```
   */
  withOptions(options: ClientOptions): AudienceClient {
    const { options: ownOptions } = this.#opened.settings;
    return this.#client.redactor.guard(() => createView(viewOptions(ownOptions, options), this.#client));
  }

  /**
   * Rejects the calls that still wait, and resolves when the requests in flight have ended. Later calls reject, with a
   * `ClientClosedError`.
   *
   * With `drain` the calls that wait are sent first, for at most `timeoutMs`, as when a process gets SIGTERM. A run of
   * `bulk` ends in any case: its rows that still wait are not sent.
   *
   * ```ts
   * process.once("SIGTERM", () => audience.close({ drain: true, timeoutMs: 3_000 }));
   * ```
   */
  close(options?: CloseOptions): Promise<void> {
    return this.#client.close(options);
  }

  /** `await using audience = new AudienceClient(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal For the entry `audience-sdk/snapshot`. */
  opened(): OpenedClient {
    return this.#opened;
  }

  get #client(): ClientState {
    return this.#opened.transport.client;
  }
}

/** Outside the class: bundlers rename a class that refers to itself in its body, and the new name would show. */
function createView(options: ClientOptions, state: ClientState): AudienceClient {
  return new AudienceClient(options, state);
}
