import { FAULT_KINDS } from "../faults.ts";
import type { Mock, ServiceState } from "../handle-request.ts";
import { OPERATIONS } from "../operations.ts";
import type { MockRateUsage } from "../rate-window.ts";
import type { RequestLog } from "../request-log.ts";
import type { MockConsentChange, MockOrganizationState } from "../state/organization-state.ts";
import type { PageNews, PageView, RequestRow, Tab } from "./page-view.ts";
import { contactViews, eventViews, listViews, type Matches, webhookViews } from "./people-view.ts";
import { requestRows } from "./request-view.ts";

interface Question {
  /** The version that the page shows; empty for none. */
  since: string;
  /** The id of an organization; by default the first. */
  organization: string | undefined;
  tab: Tab;
  /** Words that an item must contain, in any case; empty for all items. */
  find: string;
  /** Which requests: of an operation, with a status, resubscriptions alone; empty for all. */
  only: { operation: string; status: string; resubscriptions: boolean };
}

/** What the page shows; without `news` if it shows the newest version. */
export function pageView({ state, log }: Mock, start: string, question: Question): PageView {
  const version = `${start} ${log.version}`;
  const gauges = gaugesOf(state());
  if (question.since === version) return { version, gauges };
  return { version, gauges, news: newsOf(state(), log, question) };
}

/** Of the caller who has used most; unused windows if there is none. */
function gaugesOf({ rateLimiter, rateLimits, nowMs }: ServiceState): MockRateUsage[] {
  const unused = rateLimits?.windows.map((window) => ({ ...window, used: 0, waitMs: 0 })) ?? [];
  const share = (usage: readonly MockRateUsage[]) =>
    Math.max(...usage.map(({ used, limit }) => used / limit));
  const callers = [...(rateLimiter?.usage(nowMs()).values() ?? [])];
  return callers.sort((one, other) => share(other) - share(one))[0] ?? unused;
}

function newsOf(
  { organizations, faults }: ServiceState,
  log: RequestLog,
  { organization: chosen, tab, find, only }: Question,
): PageNews {
  // Safe: a mock has at least one organization.
  const organization =
    chosen === undefined ? organizations.organizations[0]! : organizations.organization(chosen);
  const { id } = organization.seed;
  const state = organization.state();
  const resubscriptions = new Set(organization.resubscriptions);
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const matches: Matches = (item, others = []) => {
    if (words.length === 0) return true;
    const texts = [...textsOf(item), ...others].join("\n").toLowerCase();
    return words.every((word) => texts.includes(word));
  };
  const requests = requestRows(log.records, id);
  const sent = requests.length + log.droppedOf(id);
  return {
    organizations: organizations.organizations.map(({ seed }) => seed.id),
    organization: id,
    counts: countsOf(state, sent),
    resubscriptions: resubscriptions.size,
    faults: faults.list(),
    kinds: FAULT_KINDS,
    operations: OPERATIONS,
    ...itemsOf(tab, { requests, sent, state, matches, only, resubscriptions }),
  };
}

function countsOf(state: MockOrganizationState, requests: number): Record<Tab, number> {
  return {
    requests,
    contacts: state.contacts.length,
    lists: state.groups.length,
    events: state.events.length,
    webhooks: state.webhookCalls.length,
  };
}

/** The values of an item, at any depth: what a page shows, without the names of fields. */
function textsOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(textsOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

interface Shown extends Pick<Question, "only"> {
  requests: readonly RequestRow[];
  /** How many requests there were. */
  sent: number;
  state: MockOrganizationState;
  matches: Matches;
  resubscriptions: ReadonlySet<MockConsentChange>;
}

const LISTS = { lists: listViews, events: eventViews, webhooks: webhookViews };

function itemsOf(
  tab: Tab,
  { requests, sent, state, matches, only, resubscriptions }: Shown,
): Partial<PageNews> {
  if (tab === "requests") {
    const found = requests.filter((row) => {
      const { operation, person, status, fault, refusedFor, changes } = row;
      return isOf(only, row) && matches([operation, person, status, fault, refusedFor, changes]);
    });
    const note = `The page has the latest ${requests.length} of ${sent} requests.`;
    return { requests: found, ...(sent > requests.length && { note }) };
  }
  const { items, found } =
    tab === "contacts" ? contactViews(state, matches, resubscriptions) : LISTS[tab](state, matches);
  const note = `The latest ${items.length} of ${found} are shown. The search looks through all of them.`;
  return { [tab]: items, ...(found > items.length && { note }) };
}

function isOf({ operation, status, resubscriptions }: Question["only"], row: RequestRow): boolean {
  const code = row.status === undefined ? "none" : String(row.status);
  const isStatus = status === "" || status === code || status === `${code[0]}xx`;
  const isOperation = operation === "" || operation === row.operation;
  return isOperation && isStatus && (row.isResubscription || !resubscriptions);
}
