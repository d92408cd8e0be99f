import type { Problem } from "./json-rules.ts";
import type { MockOperation } from "./operations.ts";
import type { MockContact, MockEvent } from "./state/organization-state.ts";

/** Fields that may be absent or undefined. */
export type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

/** Builds the body of a v1 list response from one page of items; `total` is the number of all items. */
export type MockListBody = (
  items: readonly Record<string, unknown>[],
  page: number,
  limit: number,
  total: number,
) => unknown;

/** Builds the body of a v1 error. */
export type MockErrorBody = (error: {
  status: number;
  message: string;
  problems: readonly Problem[];
}) => unknown;

/** Builds the body of a refusal for the rate. */
export type MockRateLimitBody = (refusal: {
  /** Milliseconds until the request would be permitted. */
  waitMs: number;
}) => unknown;

/** Builds the body of a webhook call. */
export type MockWebhookBody = (step: {
  /** The automation's `name`. */
  automation: string;
  /** The automation's `on`. */
  on: { event: string } | { listId: string };
  /** The contact that reached the step. */
  contact: MockContact;
  /** The event that triggered the automation, if it was one. */
  event?: MockEvent;
}) => unknown;

/**
 * The behaviour that the service document leaves open ("not shown").
 *
 * ```ts
 * createMockService({ variants: { v1List: "array", eventStatus: 202, rateLimitStatus: 503 } });
 * ```
 */
export interface MockVariants {
  /** `{base_url}` of v1; over real HTTP only its path counts. Default `"https://audience-mock.example"`. */
  baseUrl: string;
  /** `{base_url_v2}` of the v2 family. Default `"https://audience-mock-v2.example"`. */
  baseUrlV2: string;

  /**
   * "list contacts", "list lists and segments": the body of a v1 list response. Default `"data"`: `{ data: […] }`;
   * `"array"`: a bare array; `"data-key"`: `{ data: { customers: […] } }`; `"root-key"`: `{ customers: […] }`
   * (`contact_groups` for the other); or a function.
   */
  v1List: "data" | "array" | "data-key" | "root-key" | MockListBody;
  /**
   * The page info of a v1 list response. Default `"links"`: `links.self`, `.first`, `.prev`, `.next`, `.last`.
   * `"meta"`, `"pagination"`: numbers under that key; `"totals"`: the same numbers beside the items; `"none"`.
   */
  v1Paging: "links" | "meta" | "pagination" | "totals" | "none";
  /** The names of those numbers. Default `"snake"`: `total_items`; `"camel"`: `totalItems`. */
  v1PagingCase: "snake" | "camel";
  /** One contact in `GET /api/v1/customer`. Default `"resource"`: `{ type, id, attributes, … }`; `"envelope"`: that under `data`; `"flat"`: attributes beside the id. */
  v1ListedCustomer: "resource" | "envelope" | "flat";
  /**
   * The order of `GET /api/v1/customer`. Default `"created"`: the oldest contact first; `"newest"`: the newest first;
   * `"updated"`: the one that was changed last first, so that the list shifts with each write.
   */
  v1CustomerOrder: "created" | "newest" | "updated";
  /** Whether a contact in that list shows its opt-ins and its suppression. Default `true`. */
  v1ListedConsents: boolean;
  /** One contact group in a list. Default `"flat"`: `{ id, name, type, … }`; `"resource"`: `{ type, id, attributes }`. */
  v1ListedGroup: "flat" | "resource";
  /** "get one list": the body. Default `"flat"`; `"data"`: the flat group under `data`; `"resource"`: a JSON:API envelope. */
  v1Group: "flat" | "data" | "resource";
  /** "get one list": the status for an unknown id. Default 404. */
  unknownGroupStatus: number;
  /** "Other attributes of the profile response". Default `"all"` stored ones; or the seven `"documented"` ones. */
  profileAttributes: "all" | "documented";

  /** "Errors", v1 body. Default `"message"`: `{ message }`; `"text"` is plain text, `"empty"` none. */
  v1Error:
    | "message"
    | "error"
    | "error-object"
    | "errors"
    | "json-api"
    | "status-code"
    | "text"
    | "empty"
    | MockErrorBody;
  /** "Limits": the status of a refusal for the rate. Default 429. */
  rateLimitStatus: number;
  /** Its body. Default `"error"`, as of any error of the family; `"html"`, as of a gateway; or a function that returns JSON. */
  rateLimitBody: "error" | "html" | MockRateLimitBody;
  /** The header that names its wait, in the form of `rateLimits.retryAfter`. Default `"retry-after"`. */
  rateLimitHeader:
    | "retry-after"
    | "ratelimit-reset"
    | "x-ratelimit-retry-after"
    | "x-ratelimit-reset"
    | "x-rate-limit-reset";

  /** "send a custom event": the success status. Default 200. With 204 there is no body. */
  eventStatus: number;
  /** The JSON body of that response; `undefined` for none. Default `{ status: "accepted" }`. */
  eventBody: unknown;
  /** The place of an event's `contactUUID`. Default `"either"`: in `contact` or at the root. */
  contactUuidPlace: "contact" | "root" | "either";
  /** The status for an event that names its contact by an unknown `contactUUID` or `external_id` alone. Default 404. */
  unknownContactUuidStatus: number;
  /** Whether an event without `uniqueIdentifier` is refused. Default `false`. */
  isUniqueIdentifierRequired: boolean;
  /** "Limits of event fields": the longest `eventName`, `uniqueIdentifier` and string in `eventData`, in characters. Default `Infinity`: no limit. */
  eventMaxLength: number;
  /** "Other contact identification keys": those that may name the `contact` of an event as well. Default `[]`: none. */
  eventContactKeys: readonly ("phone" | "external_id")[];

  /** `POST /api/v1/customer/create` without `email_opt_in` for an existing contact. Default `"kept"`. */
  emailOptInOmitted: "kept" | "SUBSCRIBED" | "NON_SUBSCRIBED";
  /** Any v1 write without `phone_opt_in` for an existing contact; the state table has no row for it. Default `"kept"`. */
  phoneOptInOmitted: "kept" | "SUBSCRIBED" | "NON_SUBSCRIBED";
  /**
   * "All other status transitions": whether `SUBSCRIBED` in a v1 write replaces `UNSUBSCRIBED`, or counts as omitted.
   * Default `true`. `email_opt_in` on add-to-list always does, as the document says.
   */
  canV1Resubscribe: boolean;
  /** Any v1 write without `is_suppressed` for a suppressed contact; its documented default is `false`. Default `"kept"`. */
  suppressionOmitted: "kept" | "lifted";
  /** `double_opt_in: true` with `SUBSCRIBED`. Default `"recorded"`: the value sent is stored; `"pending"`: `NON_SUBSCRIBED` until confirmed. */
  doubleOptIn: "recorded" | "pending";
  /** Custom properties of an existing contact. Default `"merged"` key by key; `"replaced"`: only those of the last write. */
  customProperties: "merged" | "replaced";
  /** The case sensitivity of e-mail addresses. Default `"insensitive"`. */
  emailCase: "insensitive" | "sensitive";
  /** The contact to update if e-mail and phone belong to two contacts. Default `"email"`. */
  matchFirst: "email" | "phone";
  /** A `country` that is neither a code nor an English name. Default `"kept"` as sent; `"dropped"`; `"refused"` with 400. */
  unknownCountry: "kept" | "dropped" | "refused";
  /** Add-to-list with an unknown list: whether the contact is written before the 404. Default `true`. */
  unknownListWritesContact: boolean;
  /** Whether a segment's id works as `listId`. Default `false`: 404. */
  canAddToSegment: boolean;

  /** Whether the v1 family also requires `Service-App-Id`. Default `false`. */
  v1NeedsAppId: boolean;
  /** "Key permissions": the permitted operations of a key; any other is a 403. Default `{}`: every key permits all. */
  permissions: Readonly<Record<string, readonly MockOperation[]>>;

  /** `GET /v2/lists` without `limit`. Default 20. */
  v2DefaultLimit: number;
  /** `GET /v2/lists`: larger limits are capped. Default 100, as in v1. */
  v2MaxLimit: number;
  /** "Length limits of v2 fields": the longest permitted string, in characters. Default `Infinity`: no limit. */
  v2MaxLength: number;
  /** A v2 status other than `subscribed` and `unsubscribed`. Default `"stored"` in upper case; `"ignored"`; `"refused"` with 400. */
  v2OtherStatus: "stored" | "ignored" | "refused";
  /** "Transitions of v2 channel statuses": whether `subscribed` replaces `unsubscribed`. Default `true`. */
  canV2Resubscribe: boolean;
  /** Unknown ids in `listIds`. Default `"ignored"`; `"refused"` with 400. */
  v2UnknownList: "ignored" | "refused";
  /** The effect of `listIds` on other memberships. Default `"added"`: none; `"replaced"`: they end. */
  v2ListIds: "added" | "replaced";
  /** Repeated `triggerWelcomeEmail: true`. Default `"every-request"`: a mail for each; `"once"` per contact. */
  welcomeEmail: "every-request" | "once";

  /** "Outbound", the webhook's HTTP call: its method. Default `"POST"`. */
  webhookMethod: "POST" | "PUT" | "PATCH";
  /**
   * "Payload shape of the webhook call". Default `"flat"`: `{ automation, on, contact, event? }`; `"envelope"`: the same
   * under `data`, with `type: "automation.webhook"`; `"contact"`: the contact alone; or a function that returns JSON.
   */
  webhookBody: "flat" | "envelope" | "contact" | MockWebhookBody;
  /** The number of attempts until a 2xx, one directly after the other. Default 1. */
  webhookAttempts: number;
  /** Milliseconds that an attempt waits for a response. Default 5,000. */
  webhookTimeoutMs: number;
}
