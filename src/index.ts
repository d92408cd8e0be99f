// The public surface, listed by hand.
export { AudienceClient } from "./audience-client.ts";
export { V1Client } from "./v1/v1-client.ts";
export { V2Client } from "./v2/v2-client.ts";
export * from "./write.ts";
export { RateLimiter } from "./rate-limiter/rate-limiter.ts";
export { DOCUMENTED_WINDOWS } from "./limits.ts";
export * from "./errors.ts";

export type { CustomRequest, CustomRequestOptions } from "./custom-request.ts";
export type { ClientOptions } from "./client-options.ts";
export type { BulkRun } from "./bulk/bulk-run.ts";
export type { Bulk, BulkChecks } from "./bulk/bulk.ts";
export type { BulkCheck, PlannedBulkCheck } from "./bulk/bulk-check.ts";
export type { Checkpoint, OpenCheckpoint } from "./bulk/checkpoint.ts";
export type { BulkFunction, BulkOptions, LaterWrites, RowWrites } from "./bulk/bulk-options.ts";
export type {
  BulkCounts,
  BulkProgress,
  BulkResult,
  BulkItem,
  BulkStatus,
  BulkSummary,
  RowEnd,
  SucceededEnd,
  SupersededEnd,
  SupersededReason,
} from "./bulk/result.ts";
export type { Kept, KnownBy } from "./bulk/refusals.ts";
export type { BulkIterable, BulkRows } from "./bulk/rows.ts";
export type { Operation } from "./endpoint.ts";
export type { Page } from "./pagination/page.ts";
export type { ListOptions, Paginator } from "./pagination/paginator.ts";
export type { RateLimiterOptions } from "./rate-limiter/limiter-options.ts";
export type { EstimateOptions, RateLimiterUsage, WindowUsage } from "./rate-limiter/rate-limiter.ts";
export type { RateLimiterSnapshot } from "./rate-limiter/limiter-snapshot.ts";
export type { RateLimitStore } from "./rate-limiter/store.ts";
export type { ApiPromise, ResponseSummary, WithResponse } from "./transport/api-promise.ts";
export type {
  AddContactOptions,
  AddContactWriteOptions,
  CallOptions,
  WriteOptions,
} from "./transport/call-options.ts";
export type { CloseOptions } from "./transport/client-state.ts";
export type { ApiKey } from "./transport/api-key.ts";
export type { IsRateLimited, RateLimitCandidate } from "./transport/rate-refusal.ts";
export type { Hooks, Logger, LogLevel, RequestEvent } from "./transport/observer.ts";
export type { Fetch, FetchInit, FetchResponse } from "./transport/fetch-types.ts";
export type { ContactToAdd, V1ContactGroups } from "./v1/contact-groups.ts";
export type { V1Customers, WithEmailOrPhone } from "./v1/customers.ts";
export type { StandardIssue, StandardResult, StandardSchema } from "./schema/standard-schema.ts";
export type {
  DefinedEvent,
  DefinedEvents,
  EventDataOf,
  EventResult,
  EventSchemas,
  EventWrite,
  V1Events,
  WithContact,
} from "./v1/events.ts";
export type { ParsedPage, ParsePage } from "./v1/v1-list.ts";
export type { AddContactResult, ContactGroup, V1ContactGroupListQuery } from "./v1/contact-group-schema.ts";
export type {
  V1ConsentedListContact,
  V1Contact,
  V1CustomerListQuery,
  V1ListContact,
  V1OptIn,
} from "./v1/contact-schema.ts";
export type { V1Event } from "./v1/event-schema.ts";
export type { Profile, ProfileAttributes, ProfileLinks, ProfileRelationships } from "./v1/profile.ts";
export type { V2Contact, V2Contacts, V2Identifier, V2UpsertResult } from "./v2/contacts.ts";
export type { V2Lists } from "./v2/lists.ts";
export type { List, V2ListQuery } from "./v2/list-schema.ts";
