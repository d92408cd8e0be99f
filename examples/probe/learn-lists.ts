import type { MockVariants } from "audience-sdk/mock";
import { isJson, type Reply } from "./answer.ts";
import { reasonOf, type Finding, type Shown } from "./finding.ts";
import { findList, holdersOf, pageNumber, v1ListCode, type ListShape } from "./list-shape.ts";
import { isObject, keysOf, type JsonObject } from "./shape.ts";

interface ShownList {
  readonly body: unknown;
  readonly shape: ListShape;
}

/** The finding that both v1 lists agree on, as the mock gives both the same shape; or that of the one that answered. */
function agreed<Value>(
  { customers, groups }: Shown,
  learnFrom: (list: ShownList) => Finding<Value>,
): Finding<Value> {
  const [first, second] = [customers, groups].map((reply): Finding<Value> => {
    const shape = isJson(reply) ? findList(reply.body) : undefined;
    return isJson(reply) && shape ? learnFrom({ body: reply.body, shape }) : { unknown: reasonOf(reply) };
  });
  // Safe: there are two.
  const [one, other] = [first!, second!];
  if ("unknown" in one) return other;
  if ("unknown" in other) return one;
  const isSame = "value" in one ? "value" in other && one.value === other.value : "code" in other;
  return isSame ? one : { unknown: "the lists of contacts and of contact groups differ" };
}

export function v1List(shown: Shown): Finding<MockVariants["v1List"]> {
  return agreed<MockVariants["v1List"]>(shown, ({ body, shape }) => {
    const { path } = shape;
    const [key = ""] = path.slice(-1);
    const note = /^(customers|contact_groups)$/.test(key) ? undefined : `the key is ${key} here`;
    if (path.length === 0) return { value: "array" };
    if (path.join("/") === "data") return { value: "data" };
    if (path.length === 1) return { value: "root-key", note };
    if (path.length === 2 && path[0] === "data") return { value: "data-key", note };
    return { code: v1ListCode(body, shape) };
  });
}

type PageInfo = readonly [name: MockVariants["v1Paging"], values: JsonObject];

/** All that describes the page, beside the items or at the root. */
function pageInfos({ body, shape }: ShownList): PageInfo[] {
  return holdersOf(body, shape).flatMap((holder) => {
    const names = (["links", "meta", "pagination"] as const).filter((name) => isObject(holder[name]));
    const infos = names.map((name): PageInfo => [name, Object(holder[name])]);
    const numbers = Object.entries(holder).filter(([, value]) => typeof value === "number");
    return numbers.length === 0 ? infos : [...infos, ["totals", Object.fromEntries(numbers)]];
  });
}

const mockNames =
  /^(current_page|items_per_page|total_(pages|items)|currentPage|itemsPerPage|total(Pages|Items))$/;

export function v1Paging(shown: Shown): Finding<MockVariants["v1Paging"]> {
  return agreed<MockVariants["v1Paging"]>(shown, (list) => {
    const { body, shape } = list;
    if (Array.isArray(body)) return { unknown: "a bare array has no room for it" };
    if ("code" in v1List(shown)) return { unknown: "the function of v1List decides it" };
    const [first, ...others] = pageInfos(list);
    if (first === undefined) {
      const isAlone = holdersOf(body, shape).every((holder) => Object.keys(holder).length === 1);
      return isAlone ? { value: "none" } : { unknown: `unusual: ${keysOf(body, 1)}` };
    }
    const [value, info] = first;
    const names = Object.keys(info);
    const notes = [
      ...(value === "links" || names.every((name) => mockNames.test(name))
        ? []
        : [`named ${names.join(", ")} here`]),
      ...others.map(([name]) => `${name} too here`),
    ];
    return { value, note: notes.join("; ") || undefined };
  });
}

export function v1PagingCase(shown: Shown): Finding<MockVariants["v1PagingCase"]> {
  return agreed<MockVariants["v1PagingCase"]>(shown, (list) => {
    const [name, info = {}] = pageInfos(list)[0] ?? [];
    const names = name === "links" || "code" in v1List(shown) ? [] : Object.keys(info);
    const has = (pattern: RegExp) => names.some((each) => pattern.test(each));
    const [isSnake, isCamel] = [has(/[a-z]_[a-z]/), has(/[a-z][A-Z]/)];
    if (isSnake === isCamel) return { unknown: "no names of page numbers show it" };
    return { value: isSnake ? "snake" : "camel" };
  });
}

function firstItem(reply: Reply): JsonObject | undefined {
  const item = isJson(reply) ? findList(reply.body)?.items[0] : undefined;
  return isObject(item) ? item : undefined;
}

export function v1ListedCustomer({ customers }: Shown): Finding<MockVariants["v1ListedCustomer"]> {
  const item = firstItem(customers);
  if (item === undefined) return { unknown: "the list shows no contact" };
  if (isObject(item["attributes"])) return { value: "resource" };
  if (isObject(item["data"]) && isObject(item["data"]["attributes"])) return { value: "envelope" };
  return "id" in item && !isObject(item["data"])
    ? { value: "flat" }
    : { unknown: `unusual: ${keysOf(item, 1)}` };
}

const consents = ["email_opt_in", "phone_opt_in", "is_suppressed"];

/** The consents that the listed contacts show. */
export function listedConsents({ read }: Pick<Shown, "read">): string[] {
  return consents.filter((name) => read.customers.attributes.includes(name));
}

export function v1ListedConsents(shown: Shown): Finding<MockVariants["v1ListedConsents"]> {
  const { read, customers } = shown;
  if (read.customers.ids.length === 0)
    return { unknown: isJson(customers) ? "the list shows no contact" : reasonOf(customers) };
  const found = listedConsents(shown);
  const some = found.length === consents.length ? undefined : `${found.join(", ")} alone here`;
  return found.length === 0 ? { value: false } : { value: true, note: some };
}

/** Whether this account's list has what `readSnapshot` needs. */
export function snapshotNeeds(shown: Shown): string {
  const { read, customers } = shown;
  if (read.customers.ids.length === 0)
    return `not shown: ${isJson(customers) ? "no contact" : reasonOf(customers)}`;
  const found = listedConsents(shown);
  if (found.length === 0) return "the list shows no consent: snapshots cannot tell who has unsubscribed";
  const total = read.customers.hasTotal
    ? "and a total, so that they can be complete"
    : "and no total, so that they are never `complete`";
  return `work: the list shows ${found.join(", ")}, ${total}`;
}

export function v1ListedGroup({ groups }: Shown): Finding<MockVariants["v1ListedGroup"]> {
  const item = firstItem(groups);
  if (item === undefined) return { unknown: "the list shows no contact group" };
  if (isObject(item["attributes"])) return { value: "resource" };
  return "id" in item ? { value: "flat" } : { unknown: `unusual: ${keysOf(item, 1)}` };
}

/** The size of a page of a v1 list, as its numbers or its links tell it. */
export function v1PageSize(reply: Reply): number | undefined {
  if (!isJson(reply)) return undefined;
  const links = isObject(reply.body) ? JSON.stringify(reply.body["links"] ?? "") : "";
  const linked = /[?&](?:limit|page(?:\[size\]|%5Bsize%5D))=(\d+)/.exec(links)?.[1];
  return pageNumber(reply.body, "limit") ?? (linked === undefined ? undefined : Number(linked));
}
