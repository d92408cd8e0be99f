import { FAULT_KINDS } from "../faults.ts";
import type { Mock, ServiceState } from "../handle-request.ts";
import { OPERATIONS } from "../operations.ts";
import type { MockRateUsage } from "../rate-window.ts";
import type { RequestLog, RequestRecord } from "../request-log.ts";
import type { MockConsentChange, MockOrganizationState } from "../state/organization-state.ts";
import type { PageNews, PageView, Tab } from "./page-view.ts";
import { contactViews, eventViews, listViews, webhookViews } from "./people-view.ts";
import { isResubscription, requestRows } from "./request-view.ts";
import { type Found, type Matches, matchesOf } from "./search.ts";

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
  const matches = matchesOf(find);
  const requests = log.records.filter((record) => (record.organization ?? id) === id);
  return {
    organizations: organizations.organizations.map(({ seed }) => seed.id),
    organization: id,
    counts: countsOf(state, requests.length),
    resubscriptions: resubscriptions.size,
    faults: faults.list(),
    kinds: FAULT_KINDS,
    operations: OPERATIONS,
    ...itemsOf(tab, { requests, state, matches, only, resubscriptions }),
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

interface Shown extends Pick<Question, "only"> {
  requests: readonly RequestRecord[];
  state: MockOrganizationState;
  matches: Matches;
  resubscriptions: ReadonlySet<MockConsentChange>;
}

const LISTS = { lists: listViews, events: eventViews, webhooks: webhookViews };

function itemsOf(tab: Tab, shown: Shown): Partial<PageNews> {
  const { items, found } = foundIn(tab, shown);
  const note = `The latest ${items.length} of ${found} are shown. The search looks through all of them.`;
  return { [tab]: items, ...(found > items.length && { note }) };
}

function foundIn(tab: Tab, { requests, state, matches, only, resubscriptions }: Shown): Found<unknown> {
  if (tab === "requests") return requestRows(requests, (record) => isOf(only, record), matches);
  return tab === "contacts" ? contactViews(state, matches, resubscriptions) : LISTS[tab](state, matches);
}

function isOf({ operation, status, resubscriptions }: Question["only"], record: RequestRecord): boolean {
  const { entry } = record;
  const code = entry.status === undefined ? "none" : String(entry.status);
  const isStatus = status === "" || status === code || status === `${code[0]}xx`;
  const isOperation = operation === "" || operation === entry.operation;
  return isOperation && isStatus && (!resubscriptions || isResubscription(record));
}
