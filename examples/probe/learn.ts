import type { MockVariants } from "audience-sdk/mock";
import { isJson, isWebPage, type Answer, type Reply } from "./answer.ts";
import { v2Limit, type Answers } from "./ask.ts";
import { reasonOf, type Finding, type Shown } from "./finding.ts";
import {
  v1List,
  v1ListedConsents,
  v1ListedCustomer,
  v1ListedGroup,
  v1Paging,
  v1PagingCase,
} from "./learn-lists.ts";
import { codeOf, isObject, keysOf } from "./shape.ts";
import type { Written } from "./write.ts";

/** Learns one variant. */
type Learner<Value> = (shown: Shown) => Finding<Value>;

const event = "only further events show it, and an event stays on the timeline";
const refusal = "only a refusal shows it, and the probe stays within the limits";
const receiver = "only the receiver of a webhook sees it";
const v2Write = "only a v2 write shows it, which states the evidence of a consent that nobody gave";
const address = "an address, and no behaviour";

/** Every variant of the mock, with its learner, or with the reason why the probe does not ask for it. */
export const variants: { readonly [Name in keyof MockVariants]: Learner<MockVariants[Name]> | string } = {
  baseUrl: address,
  baseUrlV2: address,
  v1List,
  v1Paging,
  v1PagingCase,
  v1ListedCustomer,
  v1CustomerOrder: "only a list that is read again after writes shows it",
  v1ListedConsents,
  v1ListedGroup,
  v1Group,
  unknownGroupStatus,
  profileAttributes,
  v1Error,
  rateLimitStatus: refusal,
  rateLimitBody: refusal,
  rateLimitHeader: refusal,
  eventStatus: ({ written }) =>
    written?.event ? { value: written.event.status } : { unknown: noWrite(written) },
  eventBody: ({ written }) => {
    if (written?.event === undefined) return { unknown: noWrite(written) };
    const { status, body } = written.event;
    return status === 204 ? { unknown: "a 204 has no body" } : { value: body };
  },
  contactUuidPlace: event,
  unknownContactUuidStatus: event,
  isUniqueIdentifierRequired: event,
  eventMaxLength: event,
  eventContactKeys: event,
  emailOptInOmitted: ({ written }) => omittedOptIn(written, "email_opt_in"),
  phoneOptInOmitted: ({ written }) => omittedOptIn(written, "phone_opt_in"),
  canV1Resubscribe: "only a write shows it that subscribes a contact that has refused",
  suppressionOmitted: "only a write shows it that suppresses the contact",
  doubleOptIn: "only a write shows it that sends a mail",
  customProperties: "only writes show it that leave custom fields in the account",
  emailCase: "only a write shows it that may leave a second contact",
  matchFirst: "only writes to two contacts show it",
  unknownCountry: "only a write with an invalid country shows it",
  unknownListWritesContact: "only adding to a missing list shows it, which may leave a second contact",
  canAddToSegment: "only adding to a segment shows it, which may start an automation",
  v1NeedsAppId,
  permissions: "a GET shows a 403 only for itself; the other calls are writes",
  v2DefaultLimit: ({ lists }) => v2PageSize(lists),
  v2MaxLimit,
  v2MaxLength: v2Write,
  v2OtherStatus: v2Write,
  canV2Resubscribe: v2Write,
  v2UnknownList: v2Write,
  v2ListIds: v2Write,
  welcomeEmail: v2Write,
  webhookMethod: receiver,
  webhookBody: receiver,
  webhookAttempts: receiver,
  webhookTimeoutMs: receiver,
};

/** What the account shows of every variant. */
export function learn(shown: Shown): Record<string, Finding> {
  const findings = Object.entries(variants).map(([name, learner]) => [
    name,
    typeof learner === "string" ? { unknown: learner } : learner(shown),
  ]);
  return Object.fromEntries(findings) as Record<string, Finding>;
}

function noWrite(written: Written | undefined): string {
  return written ? "the write that would show it failed" : "only a write shows it: see --write";
}

function v1Group({ group }: Shown): Finding<MockVariants["v1Group"]> {
  if (!isJson(group) || !isObject(group.body)) return { unknown: reasonOf(group) };
  const { data, id } = group.body;
  if (isObject(data) && isObject(data["attributes"])) return { value: "resource" };
  if (isObject(data) && "id" in data) return { value: "data" };
  return id === undefined ? { unknown: reasonOf(group) } : { value: "flat" };
}

/** A redirect, 408 and 429 say nothing of the group; and a group that is there was no unknown one. */
function unknownGroupStatus({ group, unknownGroup: reply }: Shown): Finding<number> {
  if (!isJson(group)) return { unknown: `a group that is there: ${reasonOf(group)}` };
  if (typeof reply === "string") return { unknown: reply };
  const { status, body } = reply;
  const isPassing = status === 408 || status === 429 || isWebPage(body);
  const { data, id } = isObject(body) ? body : {};
  const isGroup = id !== undefined || (isObject(data) && "id" in data);
  return isPassing || isGroup ? { unknown: `the answer was a ${status}: ask again` } : { value: status };
}

const documentedAttributes = ["email", "phone", "first_name", "email_opt_in", "source", "created", "updated"];

/** The attributes of the profile, without those that the document shows. */
export function otherAttributes({ customer }: Answers): string[] | undefined {
  const { data } = isJson(customer) && isObject(customer.body) ? customer.body : {};
  const attributes = isObject(data) ? data["attributes"] : undefined;
  if (!isObject(attributes)) return undefined;
  return Object.keys(attributes).filter((name) => !documentedAttributes.includes(name));
}

function profileAttributes(shown: Shown): Finding<MockVariants["profileAttributes"]> {
  const others = otherAttributes(shown);
  if (others === undefined) return { unknown: reasonOf(shown.customer) };
  return { value: others.length > 0 ? "all" : "documented" };
}

/** The error bodies of the mock, by their keys. */
const errorShapes: Readonly<Record<string, MockVariants["v1Error"]>> = {
  "{ message }": "message",
  "{ error }": "error",
  "{ error: { code, message } }": "error-object",
  "{ errors: [{ field, message }] }": "errors",
  "{ errors: [{ detail, source: { pointer }, status, title }] }": "json-api",
  "{ error, message: [], statusCode }": "status-code",
  "a text": "text",
  nothing: "empty",
};

function v1Error({ unknownCustomer, unknownGroup }: Shown): Finding<MockVariants["v1Error"]> {
  const errors = [unknownCustomer, unknownGroup].filter(isError);
  const [keys, otherKeys = keys] = errors.map(({ body }) => keysOf(body));
  const [first] = errors;
  if (first === undefined || keys === undefined) return { unknown: reasonOf(unknownCustomer) };
  if (keys !== otherKeys) return { unknown: `two errors differ: ${keys} and ${otherKeys}` };
  const value = errorShapes[keys];
  return value === undefined ? { code: v1ErrorCode(first) } : { value };
}

function isError(reply: Reply): reply is Answer {
  return typeof reply !== "string" && reply.status >= 400 && !isWebPage(reply.body);
}

/** The `v1Error` of a mock with this unusual body: its own strings, with the status and the message in their places. */
function v1ErrorCode({ status, body }: Answer): string {
  const code = codeOf(body, (path, value) => {
    if (value === status) return "status";
    if (typeof value === "object" && value !== null) return undefined;
    const isMessage = /message|detail|description|title|error$/i.test(path.at(-1) ?? "");
    return isMessage && typeof value === "string" ? "message" : JSON.stringify(value);
  });
  return `({ status, message }) => (${code})`;
}

function v1NeedsAppId({ needsAppId, ...answers }: Shown): Finding<boolean> {
  const { customers, groups, customer, group } = answers;
  if (needsAppId) return { value: true };
  if ([customers, groups, customer, group].some(isJson)) return { value: false };
  return { unknown: reasonOf(customers) };
}

/** The size of a v2 page: `items_per_page`, unless that may be the number of items that there are. */
function v2PageSize(reply: Reply): Finding<number> {
  const { data } = isJson(reply) && isObject(reply.body) ? reply.body : {};
  if (!isObject(data) || !Array.isArray(data["lists"])) return { unknown: reasonOf(reply) };
  const { lists, items_per_page: size, total_items: total } = data;
  if (typeof size !== "number" || size < 1) return { unknown: "the page does not tell its items_per_page" };
  if (size === lists.length && size === total)
    return { unknown: `items_per_page is ${size}, and so is the number of lists` };
  return { value: size };
}

function v2MaxLimit({ lists, manyLists }: Shown): Finding<number> {
  const [usual, greatest] = [v2PageSize(lists), v2PageSize(manyLists)];
  if (!("value" in greatest)) return greatest;
  const value = Math.max(greatest.value, "value" in usual ? usual.value : 0);
  return { value, note: value >= v2Limit ? "or more" : undefined };
}

function omittedOptIn(
  written: Written | undefined,
  name: "email_opt_in" | "phone_opt_in",
): Finding<"kept" | "SUBSCRIBED" | "NON_SUBSCRIBED"> {
  if (!written?.before || !written.after) return { unknown: noWrite(written) };
  const [before, after] = [written.before[name], written.after[name]];
  if (before !== "UNSUBSCRIBED") return { unknown: `the profile does not show the ${name} that was written` };
  if (after === "UNSUBSCRIBED") return { value: "kept" };
  if (after === "SUBSCRIBED" || after === "NON_SUBSCRIBED") return { value: after };
  return { unknown: `the profile shows another ${name}` };
}
