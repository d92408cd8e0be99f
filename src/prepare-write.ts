import * as z from "zod";
import type { ConsentWrite } from "./consent.ts";
import { customEndpoint } from "./custom-request.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import { familyOf, type OpenedClient } from "./open-client.ts";
import { besideOtherIssues, unknownKeys, validate } from "./schema/validate.ts";
import { rejected, type ApiPromise } from "./transport/api-promise.ts";
import { parseCallOptions, type CallSettings } from "./transport/call-options.ts";
import type { PreparedCall } from "./transport/call.ts";
import { prepareCall } from "./transport/prepare-call.ts";
import { addContact } from "./v1/contact-groups.ts";
import { upsertCustomer } from "./v1/customers.ts";
import { sendEvent } from "./v1/events.ts";
import { v1EventSchema } from "./v1/schemas/event.ts";
import { upsertContact } from "./v2/contacts.ts";
import { kindOf } from "./values/in-words.ts";
import { hasOwn, isRecord, withoutPrototype, propertyOf } from "./values/predicates.ts";
import type { Write } from "./write.ts";

interface WriteOperation {
  readonly endpointOf: (body: unknown) => Endpoint<unknown, unknown>;
  /** The member that is the body: the endpoint judges it. */
  readonly body: string;
  /** The members that stand in the path. */
  readonly params: readonly string[];
  /** Of all but the body. */
  readonly schema: z.ZodType;
}

/** What a write sends, and where. */
interface SentWrite {
  readonly endpoint: Endpoint<unknown, unknown>;
  readonly input: EndpointInput;
  readonly options: unknown;
}

const anything = z.unknown().optional();

const optionsSchema = z.strictObject(
  { timeoutMs: anything, maxRetries: anything, repeatable: anything, headers: anything },
  {
    error: unknownKeys(
      "is no option of a write: they are timeoutMs, maxRetries, repeatable, headers, and consent of addContact and request; signal, priority, maxWaitMs and deadlineMs are options of audience.send",
    ),
  },
);
const withConsent = optionsSchema.extend({ consent: anything });
const required = z.unknown().refine((member) => member !== undefined, "required");

function writing<Body, Output>(
  given: Endpoint<Body, Output> | ((body: unknown) => Endpoint<Body, Output>),
  body: string,
  params: readonly string[] = [],
): WriteOperation {
  // Safe: an endpoint gets only what its own schema has accepted, or what it reads as unknown.
  const endpointOf = (typeof given === "function" ? given : () => given) as WriteOperation["endpointOf"];
  const members = [...params, body];
  const schema = z.strictObject(
    {
      operation: z.string(),
      ...Object.fromEntries(members.map((name) => [name, required])),
      options: (endpointOf(undefined).options ? withConsent : optionsSchema).optional(),
    },
    { error: unknownKeys(`unknown key: this write has operation, ${members.join(", ")} and options`) },
  );
  return { endpointOf, body, params, schema };
}

const operations: Readonly<Record<Write["operation"], WriteOperation>> = {
  "v1.customers.upsert": writing(upsertCustomer, "contact"),
  "v1.contactGroups.addContact": writing(addContact, "contact", ["listId"]),
  "v1.events.send": writing(sendEvent, "event"),
  "v2.contacts.upsert": writing(upsertContact, "contact"),
  "v1.request": writing((request) => customEndpoint("v1.request", request), "request"),
  "v2.request": writing((request) => customEndpoint("v2.request", request), "request"),
};

/**
 * Validates a write as its call does, with nothing sent: its contacts, consent and repeatability are those of the request.
 * Throws a `ValidationError` or a `ConfigurationError`.
 */
export function prepareWrite(
  opened: OpenedClient,
  write: unknown,
  newEventId?: (eventName: string) => string,
): PreparedCall {
  return opened.transport.client.redactor.guard(() => {
    const sent = sentBy(parseWrite(write), newEventId !== undefined);
    return prepare(opened, sent, parseSettings(opened, sent), newEventId);
  });
}

/** The contacts of a write, and what it says of them. It need not be valid. */
export function contactsAndConsentsOf(write: Write): {
  readonly contacts: readonly string[];
  readonly said: readonly ConsentWrite[];
} {
  const { endpoint, input } = sentBy(write, true);
  const said = endpoint.consentsOf?.(input.body) ?? [];
  return {
    contacts: endpoint.contactsOf?.(input.body) ?? [],
    said: said.filter(({ consent }) => consent.size > 0),
  };
}

/** Sends a write as a direct call; rejects as one. */
export function sendWrite(opened: OpenedClient, write: unknown, options: unknown): ApiPromise<unknown> {
  try {
    const { transport } = opened;
    const sent = transport.client.redactor.guard(() => sentBy(parseWrite(write), false));
    return transport.start(sent.endpoint, sent.input, () => {
      transport.refuseFullQueue(options, sent.options);
      return prepare(opened, sent, parseSettings(opened, sent, options));
    });
  } catch (error) {
    return rejected(error);
  }
}

/** The options of the call go before those of the write. */
function parseSettings({ settings }: OpenedClient, sent: SentWrite, options?: unknown): CallSettings {
  const ofWrite = parseCallOptions(sent.options, settings.call, sent.endpoint.options);
  return withoutPrototype({ ...parseCallOptions(options, ofWrite), given: ofWrite.given });
}

function prepare(
  { settings: client }: OpenedClient,
  { endpoint, input }: SentWrite,
  options: CallSettings,
  newEventId?: (eventName: string) => string,
): PreparedCall {
  const access = familyOf(client, endpoint.operation.startsWith("v1.") ? "v1" : "v2");
  return prepareCall(withoutPrototype(endpoint), input, { access, options, newEventId });
}

/** An event without an id is refused unless it gets one. */
function sentBy(write: Write, givesEventIds: boolean): SentWrite {
  const { endpointOf, body: name, params } = operations[write.operation];
  const body = propertyOf(write, name);
  const own = endpointOf(body);
  const needsId = write.operation === "v1.events.send" && !givesEventIds;
  return {
    endpoint: needsId ? { ...own, body: eventWithIdSchema } : own,
    input: { params: Object.fromEntries(params.map((param) => [param, propertyOf(write, param)])), body },
    options: write.options,
  };
}

const eventWithIdSchema = v1EventSchema.superRefine((event, { addIssue }) => {
  if (hasOwn(event, "uniqueIdentifier")) return;
  const message =
    "required: a job may be tried twice, and would be two events; name the event, as in order-1001";
  addIssue({ code: "custom", path: ["uniqueIdentifier"], message });
}, besideOtherIssues);

const anyWrite = z.looseObject({ operation: z.enum(Object.keys(operations)) });

function operationOf(write: unknown): Write["operation"] | undefined {
  const operation = isRecord(write) ? write["operation"] : undefined;
  // Safe: a key of `operations`.
  return typeof operation === "string" && Object.hasOwn(operations, operation)
    ? (operation as Write["operation"])
    : undefined;
}

/** Whether it is meant as a write: its members are checked when it is sent. */
export function isWrite(value: unknown): value is Write {
  return operationOf(value) !== undefined;
}

/** Throws a `ValidationError` that names the members by which it is none. */
function parseWrite(write: unknown): Write {
  if (!isRecord(write) || write["operation"] === undefined) {
    const message = `must be one write, as write.v1.customers.upsert(contact) gives it, not ${kindOf(write)}`;
    throw new ValidationError([{ path: [], code: "invalid_type", message }]);
  }
  const operation = operationOf(write);
  const issues: ValidationIssue[] = [];
  if (operation === undefined) validate(anyWrite, write, issues);
  else {
    // What is wrong inside of the body, the endpoint says with the paths of a direct call.
    const { body: name, schema } = operations[operation];
    const body = write[name];
    const others: unknown = validate(schema, { ...write, [name]: body !== undefined || undefined }, issues);
    // Safe: its members are those of its operation.
    if (issues.length === 0)
      return Object.assign(withoutPrototype(Object(others)), { [name]: body }) as Write;
  }
  throw new ValidationError(issues);
}
