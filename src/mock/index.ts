export type {
  MockAutomationRun,
  MockBooks,
  MockConsent,
  MockContact,
  MockEvent,
  MockGroup,
  MockMembership,
  MockTrigger,
  MockWelcomeEmail,
} from "./organization-state.ts";
export type { MockFault, MockFaultKind } from "./faults.ts";
export type {
  MockClientOptions,
  MockFetch,
  MockListener,
  MockListenOptions,
  MockService,
  MockServiceOptions,
} from "./interface.ts";
export { createMockService } from "./mock-service.ts";
export type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";
export type { Problem as MockProblem } from "./refusal.ts";
export type { MockRequest } from "./request-log.ts";
export type { MockAutomation, MockContactSeed, MockGroupSeed, MockOrganizationSeed } from "./seed.ts";
export type { MockErrorBody, MockListBody, MockOperation, MockVariants } from "./variants.ts";
