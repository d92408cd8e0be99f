import * as z from "zod";
import type { ConsentWrite } from "./consent.ts";
import { customEndpoint } from "./custom-request.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import { familyOf, type OpenedClient } from "./open-client.ts";
import { besideOtherIssues, unknownKeys, validate } from "./schema/validate.ts";
import { rejected, type ApiPromise } from "./transport/api-promise.ts";
import { parseCallOptions } from "./transport/call-options.ts";
import type { PreparedCall } from "./transport/call.ts";
import { prepareCall } from "./transport/prepare-call.ts";
import { addContact } from "./v1/contact-groups.ts";
import { upsertCustomer } from "./v1/customers.ts";
import { v1EventSchema } from "./v1/event-schema.ts";
import { sendEvent } from "./v1/events.ts";
import { upsertContact } from "./v2/contacts.ts";
import { kindOf } from "./values/in-words.ts";
import { hasOwn, isRecord, withoutPrototype, propertyOf } from "./values/predicates.ts";
import type { Write } from "./write.ts";

interface WriteOperation {
  readonly endpointOf: (body: unknown) => Endpoint<unknown, unknown>;
  /** The member of the write that is the body: the endpoint validates it. */
  readonly body: string;
  /** The members of the write that stand in the path. */
  readonly params: readonly string[];
  /** The schema of the write, all but its body. */
  readonly schema: z.ZodType;
}

/** What a write sends, and where. */
interface SentWrite {
  readonly endpoint: Endpoint<unknown, unknown>;
  readonly input: EndpointInput;
}

const checkedByCall = z.unknown().optional();

const writeOptionsSchema = z.strictObject(
  { timeoutMs: checkedByCall, maxRetries: checkedByCall, repeatable: checkedByCall, headers: checkedByCall },
  {
    error: unknownKeys(
      "is no option of a write: they are timeoutMs, maxRetries, repeatable, headers, and consent of addContact and request; signal, priority, maxWaitMs and deadlineMs are options of audience.send",
    ),
  },
);
const consentOptionsSchema = writeOptionsSchema.extend({ consent: checkedByCall });
const requiredMember = z.unknown().refine((member) => member !== undefined, "required");

function writeOperation<Body, Output>(
  given: (body: unknown) => Endpoint<Body, Output>,
  body: string,
  params: readonly string[] = [],
): WriteOperation {
  // Safe: an endpoint gets only what its own schema has accepted, or what it reads as unknown.
  const endpointOf = given as WriteOperation["endpointOf"];
  const members = [...params, body];
  const schema = z.strictObject(
    {
      operation: z.string(),
      ...Object.fromEntries(members.map((name) => [name, requiredMember])),
      options: (endpointOf(undefined).options ? consentOptionsSchema : writeOptionsSchema).optional(),
    },
    { error: unknownKeys(`unknown key: this write has operation, ${members.join(", ")} and options`) },
  );
  return { endpointOf, body, params, schema };
}

const operations: Readonly<Record<Write["operation"], WriteOperation>> = {
  "v1.customers.upsert": writeOperation(() => upsertCustomer, "contact"),
  "v1.contactGroups.addContact": writeOperation(() => addContact, "contact", ["listId"]),
  "v1.events.send": writeOperation(() => sendEvent, "event"),
  "v2.contacts.upsert": writeOperation(() => upsertContact, "contact"),
  "v1.request": writeOperation((request) => customEndpoint("v1.request", request), "request"),
  "v2.request": writeOperation((request) => customEndpoint("v2.request", request), "request"),
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
  const { redactor } = opened.transport.client;
  return redactor.guard(() => prepareParsed(opened, parseWrite(write), undefined, newEventId));
}

/** A write of a row of bulk, which need not be valid, with the keys of its contacts. */
export interface RowWrite {
  readonly write: Write;
  readonly contacts: readonly string[];
  /** The consents that the write states; empty for one without, such as an event. */
  readonly consents: readonly ConsentWrite[];
}

export function rowWrite(write: Write): RowWrite {
  const { endpoint, input } = sentOf(write, true);
  const contacts = endpoint.contactsOf?.(input.body) ?? [];
  const consents = endpoint.consentsOf?.(input.body) ?? [];
  return { write, contacts, consents };
}

/** Sends a write as a direct call; rejects as one. The error of what is no write names no call. */
export function sendWrite(opened: OpenedClient, given: unknown, options: unknown): ApiPromise<unknown> {
  const { transport } = opened;
  const parse = () => {
    transport.refuseFullQueue(options);
    return parseWrite(given);
  };
  try {
    const write = isWrite(given) ? given : transport.client.redactor.guard(parse);
    const { endpoint, input } = sentOf(write, false);
    return transport.start(endpoint, input, () => prepareParsed(opened, parse(), options));
  } catch (error) {
    return rejected(error);
  }
}

/** The options of the call go before those of the write. An event without an id is refused unless it gets one. */
function prepareParsed(
  { settings }: OpenedClient,
  write: Write,
  callOptions: unknown,
  newEventId?: (eventName: string) => string,
): PreparedCall {
  const { endpoint, input } = sentOf(write, newEventId !== undefined);
  const ofWrite = parseCallOptions(write.options, settings.call, endpoint.options);
  const options = parseCallOptions(callOptions, ofWrite);
  const access = familyOf(settings, endpoint.operation.startsWith("v1.") ? "v1" : "v2");
  return prepareCall(withoutPrototype(endpoint), input, { access, options }, newEventId);
}

/** What a write sends. An event without an id is refused unless it gets one. */
function sentOf(write: Write, givesEventIds: boolean): SentWrite {
  const { endpointOf, body: name, params } = operations[write.operation];
  const body = propertyOf(write, name);
  const ownEndpoint = endpointOf(body);
  const needsId = write.operation === "v1.events.send" && !givesEventIds;
  return {
    endpoint: needsId ? { ...ownEndpoint, body: eventWithIdSchema } : ownEndpoint,
    input: { params: Object.fromEntries(params.map((param) => [param, propertyOf(write, param)])), body },
  };
}

const eventWithIdSchema = v1EventSchema.superRefine((event, { addIssue }) => {
  if (hasOwn(event, "uniqueIdentifier")) return;
  const message =
    "required: a job may be tried twice, and would be two events; name the event, as in order-1001";
  addIssue({ code: "custom", path: ["uniqueIdentifier"], message });
}, besideOtherIssues);

const anyWriteSchema = z.looseObject({ operation: z.enum(Object.keys(operations)) });

/** Whether a value is meant as a write: the members of the write are checked when it is sent. */
export function isWrite(value: unknown): value is Write {
  const operation = isRecord(value) && Object.hasOwn(value, "operation") ? value["operation"] : undefined;
  return typeof operation === "string" && Object.hasOwn(operations, operation);
}

/** Throws a `ValidationError` that names the members by which a value is no write. */
function parseWrite(given: unknown): Write {
  const write = isRecord(given) ? withoutPrototype(given) : undefined;
  if (write?.["operation"] === undefined) {
    const message = `must be one write, as write.v1.customers.upsert(contact) gives it, not ${kindOf(given)}`;
    throw new ValidationError([{ path: [], code: "invalid_type", message }]);
  }
  const issues: ValidationIssue[] = [];
  if (!isWrite(write)) validate(anyWriteSchema, write, issues);
  else {
    // What is wrong inside of the body of the write, the endpoint says with the paths of a direct call.
    const { body: name, schema } = operations[write.operation];
    const body = propertyOf(write, name);
    const members: unknown = validate(schema, { ...write, [name]: body !== undefined || undefined }, issues);
    // Safe: the members of the write are those of its operation.
    if (issues.length === 0)
      return Object.assign(withoutPrototype(Object(members)), { [name]: body }) as Write;
  }
  throw new ValidationError(issues);
}
