import type { MockWebhookCall } from "./state/organization-state.ts";
import type { MockVariants, MockWebhookBody } from "./variants.ts";
import { unlessAborted } from "./wait.ts";

/** A `fetch` that calls the receivers of webhook steps, for example the handler of the app under test. */
export type MockWebhookFetch = (url: string, init: RequestInit) => Promise<Response>;

type WebhookStep = Parameters<MockWebhookBody>[0];

interface WebhookCallerOptions {
  fetch: MockWebhookFetch;
  variants: MockVariants;
  nowIso: () => string;
  /** Aborted by `reset()`. */
  ended: () => AbortSignal;
  /** Told of each attempt that begins or ends. */
  changed: () => void;
}

/** Calls the receivers of webhook steps. A receiver that fails or hangs affects nothing but the record of its call. */
export class WebhookCaller {
  readonly #options: WebhookCallerOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: WebhookCallerOptions) {
    this.#options = options;
  }

  /** Calls the receiver, and records each attempt. It does not wait for the response. */
  call(url: string, step: WebhookStep, record: MockWebhookCall[]): void {
    const call = this.#attempt(url, step, record).finally(() => this.#underWay.delete(call));
    this.#underWay.add(call);
  }

  /** Waits until no call is under way, also none that a receiver has caused meanwhile. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #attempt(url: string, step: WebhookStep, record: MockWebhookCall[]): Promise<void> {
    const { variants, nowIso, ended, changed } = this.#options;
    // The request that triggered the automation goes first, whatever the receiver does.
    await Promise.resolve();
    for (let attempt = 1; attempt <= variants.webhookAttempts && !ended().aborted; attempt += 1) {
      const call: MockWebhookCall = {
        automation: step.automation,
        contactId: step.contact.id,
        ...(step.event && { eventId: step.event.id }),
        url,
        body: undefined,
        sentAt: nowIso(),
      };
      record.push(call);
      changed();
      try {
        const json = jsonOf(variants.webhookBody, step);
        call.body = JSON.parse(json);
        call.status = await this.#send(url, json);
        if (call.status >= 200 && call.status < 300) return;
      } catch (error) {
        call.error = messageOf(error);
      } finally {
        if (!ended().aborted) changed();
      }
    }
  }

  /** Sends one attempt. A redirect is not followed, as it could lead away from loopback. */
  async #send(url: string, body: string): Promise<number> {
    const { fetch, variants, ended } = this.#options;
    const { webhookMethod: method, webhookTimeoutMs } = variants;
    const timeout = new AbortController();
    const late = new Error(`no response within ${webhookTimeoutMs} ms`);
    const timer = setTimeout(() => timeout.abort(late), webhookTimeoutMs);
    const signal = AbortSignal.any([timeout.signal, ended()]);
    const headers = { "content-type": "application/json" };
    try {
      // A `fetch` of the user's may ignore the signal, or give no Response.
      const sent = fetch(url, { method, headers, body, redirect: "manual", signal });
      const response = await unlessAborted(sent, signal);
      if (!response.status) throw new TypeError("no Response");
      // The body is not read: it may be endless.
      response.body?.cancel().catch(() => undefined);
      return response.status;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** "Payload shape of the webhook call: not shown." */
function jsonOf(shape: MockVariants["webhookBody"], step: WebhookStep): string {
  const bodyOf = (): unknown => {
    if (typeof shape === "function") return shape(step);
    if (shape === "contact") return step.contact;
    return shape === "flat" ? step : { type: "automation.webhook", data: step };
  };
  return JSON.stringify(bodyOf());
}

/** The message of an error, and of its cause: that of `fetch` is always "fetch failed". */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
