import type { MockFault } from "../faults.ts";
import type { MockRateUsage } from "../rate-window.ts";
import type { Stance } from "../request-log.ts";
import type { MockContact, MockGroup, MockWebhookCall } from "../state/organization-state.ts";

/** The tabs of the page. A view holds the items of one of them. */
export const TABS = ["requests", "contacts", "lists", "events", "webhooks"] as const;
export type Tab = (typeof TABS)[number];

/** What the page asks for twice a second. */
export interface PageView {
  /** The next question is for what is newer. That of another start is another one. */
  version: string;
  gauges: MockRateUsage[];
  /** Absent if nothing is newer. */
  news?: PageNews;
}

/** The statuses by which requests can be filtered; "none" for a response that never came. */
export const STATUSES = ["2xx", "3xx", "4xx", "429", "5xx", "none"] as const;

export interface PageNews {
  organizations: string[];
  /** The chosen one. */
  organization: string;
  /** Of all items of each tab, found or not. */
  counts: Record<Tab, number>;
  /** The number of resubscriptions. */
  resubscriptions: number;
  /** That not all of them are shown. */
  note?: string;
  faults: (MockFault & { id: number; matched: number })[];
  /** For the form of a fault. */
  kinds: readonly string[];
  operations: readonly string[];
  requests?: RequestRow[];
  contacts?: ContactView[];
  lists?: ListView[];
  events?: EventView[];
  webhooks?: WebhookView[];
}

/** One request in the list. */
export interface RequestRow {
  number: number;
  at: string;
  operation: string;
  /** An address, a number or an id that the request names; empty for none. */
  person: string;
  status?: number;
  hasEnded: boolean;
  applied: boolean;
  fault?: string;
  refusedFor?: string;
  changes: string[];
  /** Whether one of the changes went over a refusal. */
  isResubscription: boolean;
  /** Counts the same request again after a failure; 1 for the first. */
  attempt: number;
  durationMs?: number;
}

/** One request, opened. */
export interface RequestDetails extends RequestRow {
  method: string;
  path: string;
  query: string;
  /** Without keys. */
  headers: [name: string, value: string][];
  body?: unknown;
  /** Absent if there was none; that of an old request is forgotten. */
  response?: ResponseDetails | "forgotten";
  stances: Stance[];
}

/** The service's own response; a fault may have changed or swallowed it. */
export interface ResponseDetails {
  status: number;
  headers: [name: string, value: string][];
  body?: unknown;
}

/** A time and what happened then. */
export interface Moment {
  at: string;
  text: string;
  isResubscription?: boolean;
}

export interface ContactView {
  contact: MockContact;
  lists: string[];
  /** Per channel, with its state and since when. */
  consents: { channel: string; state: string; since?: string; before?: string }[];
  /** Every change of a consent, newest first. */
  history: Moment[];
  /** Lists, events, automations, webhook calls and mails, newest first. */
  timeline: Moment[];
}

export interface ListView {
  group: MockGroup;
  /** The number of all members. */
  size: number;
  /** The latest. */
  members: { contact: string; joinedAt: string }[];
}

export interface EventView {
  id: string;
  at: string;
  eventName: string;
  contact: string;
  uniqueIdentifier?: string;
  eventData?: unknown;
  automations: { name: string; calls: MockWebhookCall[] }[];
}

/** `number` counts from 1. */
export type WebhookView = MockWebhookCall & { number: number; contact: string };
