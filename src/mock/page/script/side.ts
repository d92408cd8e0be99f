import type { PageNews, PageView } from "../page-view.ts";
import { byId, h, span } from "./elements.ts";
import { act } from "./service.ts";

const INTERVALS = new Map([
  [1_000, "per second"],
  [60_000, "per minute"],
  [3_600_000, "per hour"],
]);

/** The windows of the rate limit, and when the next request may come. */
export function drawGauges(gauges: PageView["gauges"]): void {
  const drawn = gauges.map(({ limit, intervalMs, used, waitMs }) => {
    const name = INTERVALS.get(intervalMs) ?? `per ${Number((intervalMs / 1_000).toPrecision(3))} s`;
    const next = waitMs > 0 ? `next permit in ${(Math.ceil(waitMs / 100) / 10).toFixed(1)} s` : "free";
    const fill = h("div", { class: "fill" });
    fill.style.width = `${Math.min(100, (100 * used) / limit)}%`;
    const meter = {
      role: "meter",
      "aria-label": `Requests ${name}`,
      "aria-valuemin": "0",
      "aria-valuemax": String(limit),
      "aria-valuenow": String(Math.min(used, limit)),
      "aria-valuetext": `${used} of ${limit}, ${next}`,
    };
    return h(
      "div",
      { class: waitMs > 0 ? "gauge full" : "gauge" },
      h("p", {}, `${used} / ${limit} ${name}`, span("", next)),
      h("div", { class: "track", ...meter }, fill),
    );
  });
  byId("gauges").replaceChildren(
    ...(drawn.length > 0
      ? drawn
      : [h("p", {}, 'None. Set rateLimits to "documented" for that of the service.')]),
  );
}

let drawnFaults = "";

/** The armed faults, each with a button that removes it. */
export function drawFaults({ faults }: PageNews, refresh: () => void): void {
  const json = JSON.stringify(faults);
  if (json === drawnFaults) return;
  drawnFaults = json;
  const rows = faults.map((fault) => {
    const { id, kind, operation, times, matched } = fault;
    const left = times === undefined ? "always" : matched >= times ? "spent" : `${times - matched} to come`;
    const name = `${kind} for ${operation ?? "any request"}`;
    const remove = async (): Promise<void> => {
      if (!(await act("DELETE", `faults/${id}`))) return;
      byId("faults-title").focus();
      refresh();
    };
    const button = {
      type: "button",
      "data-id": String(id),
      "aria-label": `Remove ${name}`,
      click: () => void remove(),
    };
    return h(
      "li",
      {},
      span(
        "",
        span("operation", kind),
        span("sub", operation ?? "any request"),
        span("sub", `${left}, affected ${matched}`),
      ),
      h("button", button, "Remove"),
    );
  });
  const list = byId("faults");
  const focused = list.querySelector<HTMLElement>(":focus")?.dataset["id"];
  list.replaceChildren(...rows);
  if (focused !== undefined)
    (list.querySelector<HTMLElement>(`[data-id="${focused}"]`) ?? byId("faults-title")).focus();
}

/** The form that arms a fault. */
export function prepareFaultForm(refresh: () => void): void {
  const form = byId("fault") as HTMLFormElement;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const fault: Record<string, unknown> = { kind: given.get("kind") };
    if (given.get("operation") !== "") fault["operation"] = given.get("operation");
    for (const name of ["times", "after"]) if (given.get(name) !== "") fault[name] = Number(given.get(name));
    void act("POST", "faults", fault).then((isAdded) => isAdded && refresh());
  });
}

/** Fills a choice once; it keeps what was chosen. */
export function fillChoice(
  select: HTMLSelectElement,
  values: readonly (readonly [value: string, text: string])[],
): void {
  const known = [...select.options].map(({ value }) => value);
  if (values.length === known.length && values.every(([value], at) => value === known[at])) return;
  const chosen = select.value;
  select.replaceChildren(...values.map(([value, text]) => h("option", { value }, text)));
  if (values.some(([value]) => value === chosen)) select.value = chosen;
}
