import type { MockContact, MockGroup } from "./organization-state.ts";

/** A contact to begin with: the fields of a v1 contact, an `id` if it must be a known one, and the ids of its lists. */
export type MockContactSeed = Partial<
  Omit<MockContact, "custom_properties" | "consents" | "other_fields">
> & {
  /** Stored as the service stores them: numbers and booleans as texts. */
  custom_properties?: Record<string, string | number | boolean>;
  /** Ids of the lists that it is in from the start; no trigger fires for these. */
  lists?: readonly string[];
};

/** A list or segment to begin with. `type` is `"LIST"` by default, `created_at` the time of the start. */
export type MockGroupSeed = Pick<MockGroup, "id" | "name"> &
  Partial<Pick<MockGroup, "type" | "description" | "created_at">>;

/** An automation: it runs when the event is recorded, or when a contact joins the list. */
export interface MockAutomation {
  /** Names its runs in the books. */
  name: string;
  /** What sets it off: an event of this name, or joining this list of the organization. Not both. */
  on: { event: string } | { listId: string };
}

/** One organization: "A key belongs to exactly one organization", so no key may stand in two. */
export interface MockOrganizationSeed {
  /** What `mock.organization` finds it by. */
  id: string;
  /** Keys of the v1 family, and of v2 where `apiKeysV2` is absent. */
  apiKeys: readonly string[];
  /** Keys of the v2 family; default: `apiKeys`. */
  apiKeysV2?: readonly string[];
  /** The v2 family's app id. */
  appId: string;
  /** Lists and segments to begin with, each with an id of its own; default none. */
  lists?: readonly MockGroupSeed[];
  /** Contacts to begin with; default none. */
  contacts?: readonly MockContactSeed[];
  /** Automations to begin with; default none. */
  automations?: readonly MockAutomation[];
  /** Whether a welcome email flow is configured; default `false`. */
  welcomeFlow?: boolean;
}

/** What the mock begins with where nothing is given. Its keys are no secrets and say so. */
export const DEFAULT_ORGANIZATION: MockOrganizationSeed = {
  id: "mock-organization",
  apiKeys: ["mock-api-key-not-a-secret"],
  appId: "mock-app-id",
  lists: [
    {
      id: "mock-list",
      name: "Newsletter",
      type: "LIST",
      description: "Everyone who asked for the newsletter",
    },
    { id: "mock-segment", name: "Engaged in the last 30 days", type: "SEGMENT" },
  ],
};
