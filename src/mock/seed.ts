import type { MockContact, MockGroup } from "./organization-state.ts";

/** A contact at the start: the fields of a v1 contact, optionally its `id` and the ids of its lists. */
export type MockContactSeed = Partial<
  Omit<MockContact, "custom_properties" | "consents" | "other_fields">
> & {
  /** Numbers and booleans are stored as strings. */
  custom_properties?: Record<string, string | number | boolean>;
  /** The ids of its lists. No trigger fires for them. */
  lists?: readonly string[];
};

/** A list or segment at the start. Default `type`: `"LIST"`; default `created_at`: the time of the start. */
export type MockGroupSeed = Pick<MockGroup, "id" | "name"> &
  Partial<Pick<MockGroup, "type" | "description" | "created_at">>;

/** An automation: it runs when the event is recorded, or when a contact joins the list. */
export interface MockAutomation {
  /** The name of its runs. */
  name: string;
  /** The trigger: an event of this name, or joining this list of the organization. Not both. */
  on: { event: string } | { listId: string };
}

/** One organization: "A key belongs to exactly one organization", so no key may stand in two. */
export interface MockOrganizationSeed {
  /** The id for `mock.organization`. */
  id: string;
  /** Keys of the v1 family, and of v2 without `apiKeysV2`. */
  apiKeys: readonly string[];
  /** Keys of the v2 family; default: `apiKeys`. */
  apiKeysV2?: readonly string[];
  /** The v2 family's app id. */
  appId: string;
  /** Lists and segments, each with a unique id; default none. */
  lists?: readonly MockGroupSeed[];
  /** Contacts; default none. */
  contacts?: readonly MockContactSeed[];
  /** Automations; default none. */
  automations?: readonly MockAutomation[];
  /** Whether a welcome email flow is configured; default `false`. */
  welcomeFlow?: boolean;
}

/** The default organization. Its keys are not secret. */
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
