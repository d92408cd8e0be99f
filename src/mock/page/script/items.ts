import { byId, type Child, h } from "./elements.ts";

/** How the items of one kind look. */
export interface Look<Item> {
  kind: string;
  keyOf: (item: Item) => string;
  /** The line that is always there: phrasing content. */
  head: (item: Item) => Child[];
  /** What is there when the item is open. */
  body: (item: Item) => Child[] | Promise<Child[]>;
  /** Shown if there is no item at all. */
  empty: Child[];
}

interface Shown {
  element: HTMLLIElement;
  json: string;
  isOpen: boolean;
}

type Draw<Item> = (items: readonly Item[], place: HTMLElement, isSearch: boolean) => void;

/** Draws a list anew wherever it has changed. What is open stays open, and the focus stays where it is. */
export function itemList<Item>(look: Look<Item>): Draw<Item> {
  const shown = new Map<string, Shown>();
  const list = h("ul", { class: look.kind });

  const drawBody = async (item: Item, { element, isOpen }: Shown): Promise<void> => {
    const children = isOpen ? await look.body(item) : [];
    const focused = document.activeElement;
    const name = focused instanceof HTMLElement ? focused.dataset["action"] : undefined;
    const at = controlsOf(element, name).findIndex((control) => control === focused);
    element.querySelector(":scope > .body")?.remove();
    if (children.length === 0) return;
    element.append(h("div", { class: "body" }, ...children));
    const next = controlsOf(element, name)[at] ?? element.querySelector<HTMLElement>(".head");
    if (at >= 0) next?.focus();
  };

  const draw = (item: Item, one: Shown): void => {
    const toggle = (): void => {
      one.isOpen = !one.isOpen;
      head.setAttribute("aria-expanded", String(one.isOpen));
      void drawBody(item, one);
    };
    const expanded = { "aria-expanded": String(one.isOpen) };
    const head = h(
      "button",
      { type: "button", class: "head", ...expanded, click: toggle },
      ...look.head(item),
    );
    const old = one.element.querySelector(":scope > .head");
    const hadFocus = old !== null && old === document.activeElement;
    if (old === null) one.element.append(head);
    else old.replaceWith(head);
    if (hadFocus) head.focus();
    if (one.isOpen) void drawBody(item, one);
  };

  return (items, place, isSearch) => {
    const kept = new Set(items.map(look.keyOf));
    for (const [key, { element }] of shown) {
      if (kept.has(key)) continue;
      if (element.contains(document.activeElement)) byId("panel").focus();
      element.remove();
      shown.delete(key);
    }
    let before: Element | null = list.firstElementChild;
    for (const item of items) {
      const [key, json] = [look.keyOf(item), JSON.stringify(item)];
      const known = shown.get(key);
      const one = known ?? { element: h("li", { class: "item" }), json, isOpen: false };
      shown.set(key, one);
      if (known === undefined || one.json !== json) draw(item, one);
      one.json = json;
      if (one.element === before) before = before.nextElementSibling;
      else list.insertBefore(one.element, before);
    }
    const without = isSearch ? ["Nothing matches the search."] : look.empty;
    const content = items.length > 0 ? list : h("div", { class: "empty" }, ...without);
    if (place.firstChild !== content) place.replaceChildren(content);
  };
}

/** The buttons of an opened item that have this name; without a name its texts, which can be scrolled. */
function controlsOf(element: HTMLElement, name: string | undefined): HTMLElement[] {
  const controls = [...element.querySelectorAll<HTMLElement>(".body [data-action], .body pre")];
  return controls.filter((control) => control.dataset["action"] === name);
}
