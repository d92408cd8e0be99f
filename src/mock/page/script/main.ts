import { type PageNews, type PageView, STATUSES, type Tab } from "../page-view.ts";
import { byId, copy, h, say, span } from "./elements.ts";
import { itemList } from "./items.ts";
import { contacts, events, lists, webhooks } from "./people.ts";
import { requests } from "./requests.ts";
import { act, read } from "./service.ts";
import { drawFaults, drawGauges, fillChoice, prepareFaultForm } from "./side.ts";

const INTERVAL_MS = 500;
const ANNOUNCED_EACH_MS = 3_000;
const TITLES: Record<Tab, string> = {
  requests: "Requests",
  contacts: "Contacts",
  lists: "Lists",
  events: "Events",
  webhooks: "Webhooks",
};
const tabs = Object.keys(TITLES) as Tab[]; // Safe: they are its keys.

const organizations = byId("organization") as HTMLSelectElement;
const search = byId("find") as HTMLInputElement;
const fault = byId("fault") as HTMLFormElement;
const only = byId("only") as HTMLFormElement;
const items = byId("items");
const buttons = new Map(tabs.map((tab) => [tab, tabButton(tab)]));
let shownTab: Tab = "requests";
let version = "";
let timer: ReturnType<typeof setTimeout> | undefined;
let shown: PageNews | undefined;
let announced: { requests: number; atMs: number } | undefined;

const draw = {
  requests: itemList(requests),
  contacts: itemList(contacts(() => organizations.value, refresh)),
  lists: itemList(lists),
  events: itemList(events),
  webhooks: itemList(webhooks),
};

/** Asks at once for everything, as the question has changed or the state has. */
function refresh(): void {
  version = "";
  void update();
}

const question = () =>
  new URLSearchParams({
    tab: shownTab,
    find: search.value.trim(),
    ...(organizations.value !== "" && { organization: organizations.value }),
    ...onlyThese(),
  }).toString();

/** What the requests are filtered by. */
const onlyThese = () =>
  // Safe: it has no field for a file.
  Object.fromEntries([...new FormData(only)].filter(([, value]) => value !== "") as [string, string][]);

/** Asks what is new, and once more after half a second; not while nobody looks. */
async function update(): Promise<void> {
  clearTimeout(timer);
  if (document.hidden) return;
  const asked = question();
  const view = await read<PageView>(`page?${asked}&since=${encodeURIComponent(version)}`);
  showWhetherItAnswers(view !== undefined);
  if (view !== undefined && asked === question()) show(view);
  clearTimeout(timer);
  timer = setTimeout(() => void update(), INTERVAL_MS);
}

function showWhetherItAnswers(doesAnswer: boolean): void {
  const text = doesAnswer ? "" : "The mock does not answer. If it runs, reload the page.";
  byId("dot").classList.toggle("off", !doesAnswer);
  showStatus("down", text);
}

/** The same text again would be announced again. */
function showStatus(id: string, text: string): void {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

function show({ version: newest, gauges, news }: PageView): void {
  drawGauges(gauges);
  version = newest;
  if (news !== undefined) showNews(news);
  if (shown !== undefined) announce(shown);
}

function showNews(news: PageNews): void {
  shown = news;
  for (const [tab, { count }] of buttons) count.textContent = String(news.counts[tab]);
  fillChoice(
    organizations,
    news.organizations.map((id) => [id, id] as const),
  );
  const names = news.operations.map((name) => [name, name] as const);
  for (const form of [fault, only])
    fillChoice(selectOf("operation", form), [["", "any operation"], ...names]);
  fillChoice(
    selectOf("kind"),
    news.kinds.map((kind) => [kind, kind] as const),
  );
  const { resubscriptions } = news;
  const told = `${resubscriptions} resubscription${resubscriptions === 1 ? "" : "s"}`;
  showStatus("over", resubscriptions === 0 ? "" : told);
  drawFaults(news, refresh);
  byId("note").textContent = news.note ?? "";
  const isFiltered = shownTab === "requests" && Object.keys(onlyThese()).length > 0;
  const isSearch = search.value.trim() !== "" || isFiltered;
  if (news.requests) draw.requests(news.requests, items, isSearch);
  if (news.contacts) draw.contacts(news.contacts, items, isSearch);
  if (news.lists) draw.lists(news.lists, items, isSearch);
  if (news.events) draw.events(news.events, items, isSearch);
  if (news.webhooks) draw.webhooks(news.webhooks, items, isSearch);
}

const selectOf = (name: string, form = fault) => form.elements.namedItem(name) as HTMLSelectElement;

/** Tells a screen reader of new requests, not more often than it can say. */
function announce({ counts, requests: [latest] = [] }: PageNews): void {
  const nowMs = performance.now();
  const arrived = counts.requests - (announced?.requests ?? counts.requests);
  if (announced !== undefined && nowMs - announced.atMs < ANNOUNCED_EACH_MS) return;
  announced = { requests: counts.requests, atMs: nowMs };
  if (arrived <= 0) return;
  const last = latest && `, the latest ${latest.operation}: ${latest.status ?? "no response"}`;
  byId("told").textContent = `${arrived} new request${arrived === 1 ? "" : "s"}${last ?? ""}`;
}

function tabButton(tab: Tab) {
  const count = span("count");
  const button = h(
    "button",
    { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": "panel", click: () => choose(tab) },
    `${TITLES[tab]} `,
    count,
  );
  button.addEventListener("keydown", ({ key }) => {
    const at = tabs.indexOf(tab);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    const next = steps[key] === undefined ? undefined : tabs.at(steps[key] % tabs.length);
    if (next === undefined) return;
    choose(next);
    buttons.get(next)?.button.focus();
  });
  byId("tabs").append(button);
  return { button, count };
}

function choose(tab: Tab): void {
  shownTab = tab;
  for (const [each, { button }] of buttons) {
    button.setAttribute("aria-selected", String(each === tab));
    button.tabIndex = each === tab ? 0 : -1;
  }
  byId("title").textContent = TITLES[tab];
  only.hidden = tab !== "requests";
  refresh();
}

async function copyEnvironment(): Promise<void> {
  const lines = await read<string[]>(`environment?${question()}`);
  if (lines === undefined) say("The mock does not answer.");
  else await copy(`${lines.join("\n")}\n`, "The environment was");
}

async function reset(): Promise<void> {
  if (!(await act("POST", "reset"))) return;
  say("The initial state is restored.");
  refresh();
}

byId("reset").addEventListener("click", () => void reset());
byId("environment").addEventListener("click", () => void copyEnvironment());
organizations.addEventListener("change", refresh);
search.addEventListener("input", refresh);
document.addEventListener("visibilitychange", () => void update());
only.addEventListener("change", refresh);
fillChoice(selectOf("status", only), [
  ["", "any status"],
  ...STATUSES.map((status) => [status, status === "none" ? "no response" : status] as const),
]);
prepareFaultForm(refresh);
choose(shownTab);
