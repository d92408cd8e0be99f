import type { MockEvent } from "./organization-state.ts";
import type { MockAutomation } from "./seed.ts";

/** The automations that an event, or joining a list, triggers. */
export function triggeredBy(
  trigger: MockEvent | { listId: string },
  automations: readonly MockAutomation[] = [],
): MockAutomation[] {
  return automations.filter(({ on }) =>
    "event" in on
      ? "eventName" in trigger && trigger.eventName === on.event
      : "listId" in trigger && trigger.listId === on.listId,
  );
}
