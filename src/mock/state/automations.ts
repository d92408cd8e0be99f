import type { WebhookCaller } from "../webhooks.ts";
import type { MockAutomationRun, MockContact, MockEvent, MockWebhookCall } from "./organization-state.ts";
import type { MockAutomation } from "./seed.ts";

/** One organization's automations: each runs when its event is recorded, or when a contact joins its list. */
export class Automations {
  readonly runs: MockAutomationRun[] = [];
  readonly webhookCalls: MockWebhookCall[] = [];
  readonly #automations: readonly MockAutomation[];
  readonly #sources: { nowIso: () => string; webhooks: WebhookCaller };

  constructor(
    automations: readonly MockAutomation[],
    sources: { nowIso: () => string; webhooks: WebhookCaller },
  ) {
    this.#automations = automations;
    this.#sources = sources;
  }

  /** Runs each automation that the event, or joining the list, triggers. */
  run(contact: MockContact, trigger: MockEvent | { listId: string }): void {
    const { nowIso, webhooks } = this.#sources;
    const startedAt = nowIso();
    for (const { name, on, webhook } of this.#automations) {
      const isTriggered =
        "event" in on
          ? "eventName" in trigger && trigger.eventName === on.event
          : "listId" in trigger && trigger.listId === on.listId;
      if (!isTriggered) continue;
      this.runs.push({ automation: name, contactId: contact.id, on, startedAt });
      if (webhook === undefined) continue;
      const step = { automation: name, on, contact, ...("eventName" in trigger && { event: trigger }) };
      webhooks.call(webhook.url, structuredClone(step), this.webhookCalls);
    }
  }
}
