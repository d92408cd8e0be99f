import type { Moment } from "../page-view.ts";

/** Text becomes a text node, so that nothing of a request is ever markup. */
export type Child = Node | string | false | undefined;

type Attributes = Readonly<Record<string, string | boolean | (() => void)>>;

/** Makes an element: a function is a listener of the event of its name, a boolean an attribute without a value. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  for (const child of children) if (child !== false && child !== undefined) element.append(child);
  return element;
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

export const span = (className: string, ...children: readonly Child[]) =>
  h("span", { class: className }, ...children);

export const tag = (kind: string, text: string) => span(`tag ${kind}`, text);

/** A time of day, to the millisecond. */
export function clock(at: string): HTMLTimeElement {
  const time = new Date(at);
  const text = `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, "0")}`;
  return h("time", { datetime: at, title: at }, text);
}

/** A part of an opened item, under its title. */
export const part = (title: string, ...children: readonly Child[]) =>
  h("div", {}, h("h3", {}, title), ...children);

/** A value as indented JSON; a string as it is. */
export function json(value: unknown): HTMLPreElement {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return h("pre", { tabindex: "0" }, text);
}

export function pairs(entries: readonly (readonly [name: string, value: string])[]): HTMLElement {
  const rows = entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  return h("dl", { class: "pairs" }, ...rows);
}

/** The mark of what went over a refusal. */
export const overMark = () => tag("bad", "resubscription");

export function moments(all: readonly Moment[]): HTMLElement {
  const rows = all.map(({ at, text, isResubscription }) =>
    h("li", {}, clock(at), span("", `${text} `, isResubscription && overMark())),
  );
  return h("ul", { class: "moments" }, ...rows);
}

/** A button of an opened item. Its name finds it again after the item was drawn anew. */
export const action = (name: string, act: () => void) =>
  h("button", { type: "button", "data-action": name, click: act }, name);

/** Shows a message for a while. */
export function say(text: string): void {
  byId("said").textContent = text;
  clearTimeout(forgetting);
  forgetting = setTimeout(() => (byId("said").textContent = ""), 4_000);
}
let forgetting: ReturnType<typeof setTimeout> | undefined;

/** Only a page of a secure origin has a clipboard; on another one the text is shown, selected. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch {
    const area = h("textarea", { readonly: true, rows: "8", "aria-label": "Text to copy" });
    area.value = text;
    const close = h("button", { type: "button", click: () => dialog.remove() }, "Close");
    const dialog: HTMLDialogElement = h(
      "dialog",
      { close: () => dialog.remove() },
      h("p", {}, "Copy it from here:"),
      area,
      close,
    );
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }
}
