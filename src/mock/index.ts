export type {
  MockAutomationRun,
  MockOrganizationState,
  MockConsent,
  MockConsentChange,
  MockContact,
  MockEvent,
  MockGroup,
  MockMembership,
  MockTrigger,
  MockWebhookCall,
  MockWelcomeEmail,
} from "./state/organization-state.ts";
export { ClickUndone, everyClick, type EveryClickOptions, type JobClick } from "./every-click.ts";
export { everyFault, type EveryFaultOptions, FaultFound } from "./every-fault.ts";
export type { JobRequest } from "./job-runs.ts";
export type { MockFault, MockFaultKind } from "./faults.ts";
export type {
  MockClientOptions,
  MockFetch,
  MockListener,
  MockListenOptions,
  MockPersonOptions,
  MockRequest,
  MockService,
} from "./public-types.ts";
export type { MockOperation } from "./operations.ts";
export { createMockService } from "./mock-service.ts";
export type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";
export type { MockServiceOptions } from "./mock-options.ts";
export type { Problem as MockProblem } from "./json-rules.ts";
export type { MockAutomation, MockContactSeed, MockGroupSeed, MockOrganizationSeed } from "./state/seed.ts";
export type {
  MockErrorBody,
  MockListBody,
  MockVariants,
  MockRateLimitBody,
  MockWebhookBody,
} from "./variants.ts";
export type { MockWebhookFetch } from "./webhooks.ts";
