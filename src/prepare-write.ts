// How a write that is a value becomes a call. `audience.send` and `audience.bulk` use the same door.
//
// `consentWriteOf` tells bulk at once of whom a write is, and what it says; `prepareWrite` gives the call, with nothing sent, or
// throws a `ValidationError` with all issues. `transport.send(prepared, settings)` sends it later, with signal, priority and
// patience of the run.
import * as z from "zod";
import type { ConsentWrite } from "./consent.ts";
import { customEndpoint } from "./custom-request.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import type { OpenedClient } from "./open-client.ts";
import { besideOtherIssues, unknownKeys } from "./schema/validation-issues.ts";
import { apiPromise, type ApiPromise } from "./transport/api-promise.ts";
import { parseCallOptions } from "./transport/call-options.ts";
import type { CallSettings, PreparedCall } from "./transport/call.ts";
import { prepareCall } from "./transport/transport.ts";
import { addContact } from "./v1/contact-groups.ts";
import { upsertCustomer } from "./v1/customers.ts";
import { sendEvent } from "./v1/events.ts";
import { v1EventSchema } from "./v1/schemas/event.ts";
import { v1Access } from "./v1/v1-client.ts";
import { upsertContact } from "./v2/contacts.ts";
import { v2Access } from "./v2/v2-client.ts";
import { validate } from "./validate.ts";
import { kindOf } from "./values/kind-of.ts";
import { hasOwn, isRecord, withoutPrototype, propertyOf } from "./values/predicates.ts";
import type { Write } from "./write.ts";

/** Who sends a write. */
interface Sender {
  /** The options of the call, which go before those of the write. */
  readonly options?: unknown;
  /** Makes the id of an event without one. Without it such an event is refused. */
  readonly newEventId?: ((eventName: string) => string) | undefined;
  /** It is sent at once, and refused where the queue is full. */
  readonly isDirect?: boolean;
}

/**
 * Validates a write as its call does, with nothing sent: its contacts, consent and repeatability are those of the request.
 * Throws a `ValidationError` or a `ConfigurationError`.
 */
export function prepareWrite(opened: OpenedClient, write: unknown, sender: Sender = {}): PreparedCall {
  return opened.transport.client.redactor.guard(() => {
    const valid = parseWrite(write);
    return withEndpoint(valid, sender, (endpoint, input) => prepare(opened, valid, sender, endpoint, input));
  });
}

/** What a write says of its contact. It need not be valid. */
export function consentWriteOf(write: Write): ConsentWrite {
  return withEndpoint(write, {}, ({ consentOf, contactsOf }, { body }) => ({
    contacts: contactsOf?.(body) ?? [],
    consent: consentOf?.(body) ?? new Map(),
  }));
}

/** Sends a write as a direct call; rejects as one. */
export function sendWrite(opened: OpenedClient, write: unknown, options: unknown): ApiPromise<unknown> {
  try {
    const valid = opened.transport.client.redactor.guard(() => parseWrite(write));
    const sender = { options, isDirect: true };
    return withEndpoint(valid, sender, (endpoint, input) =>
      opened.transport.start(endpoint, input, () => prepare(opened, valid, sender, endpoint, input)),
    );
  } catch (error) {
    return apiPromise(Promise.reject(error));
  }
}

function prepare<Body, Output>(
  { settings: client, transport }: OpenedClient,
  { operation, options: own }: Write,
  { options, newEventId, isDirect }: Sender,
  endpoint: Endpoint<Body, Output>,
  input: EndpointInput,
): PreparedCall {
  const access = operation.startsWith("v1.") ? v1Access(client) : v2Access(client);
  const ofWrite = parseCallOptions(own, client.call, endpoint.options);
  const ofSender = parseCallOptions(options, ofWrite);
  const settings: CallSettings = withoutPrototype({ ...ofSender, given: ofWrite.given });
  if (isDirect) transport.refuseIfFull(settings);
  return prepareCall(withoutPrototype(endpoint), input, { access, settings, newEventId });
}

/** The endpoint of a write, and what the write sends to it. */
function withEndpoint<Result>(
  write: Write,
  { newEventId }: Sender,
  use: <Body, Output>(endpoint: Endpoint<Body, Output>, input: EndpointInput) => Result,
): Result {
  switch (write.operation) {
    case "v1.customers.upsert":
      return use(upsertCustomer, { body: write.contact });
    case "v1.contactGroups.addContact":
      return use(addContact, { params: { listId: write.listId }, body: write.contact });
    case "v1.events.send":
      return use(newEventId ? sendEvent : sendEventWithId, { body: write.event });
    case "v2.contacts.upsert":
      return use(upsertContact, { body: write.contact });
    case "v1.request":
    case "v2.request":
      return use(customEndpoint(write.operation, write.request), { body: write.request });
  }
}

const sendEventWithId: typeof sendEvent = {
  ...sendEvent,
  body: v1EventSchema.superRefine((event, { addIssue }) => {
    if (hasOwn(event, "uniqueIdentifier")) return;
    const message =
      "required: a job may be tried twice, and would be two events; name the event, as in order-1001";
    addIssue({ code: "custom", path: ["uniqueIdentifier"], message });
  }, besideOtherIssues),
};

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

/** The member that an operation sends: its endpoint's schema judges it. */
const sentMembers = {
  "v1.customers.upsert": "contact",
  "v1.contactGroups.addContact": "contact",
  "v1.events.send": "event",
  "v2.contacts.upsert": "contact",
  "v1.request": "request",
  "v2.request": "request",
} as const satisfies Record<Write["operation"], string>;

const anyWrite = z.looseObject({ operation: z.enum(Object.keys(sentMembers)) });

const schemas = new Map<string, z.ZodType>();

/** The schema of a write's members, by its operation; kept, as zod compiles a schema at its first use. */
function writeSchema(write: unknown): z.ZodType {
  const operation = operationOf(write);
  if (operation === undefined) return anyWrite;
  const schema = schemas.get(operation) ?? membersSchema(operation);
  schemas.set(operation, schema);
  return schema;
}

function operationOf(write: unknown): Write["operation"] | undefined {
  const operation = isRecord(write) ? write["operation"] : undefined;
  // Safe: a key of `sentMembers`.
  return typeof operation === "string" && Object.hasOwn(sentMembers, operation)
    ? (operation as Write["operation"])
    : undefined;
}

/** Whether it is meant as a write: its members are checked when it is sent. */
export function isWrite(value: unknown): value is Write {
  return operationOf(value) !== undefined;
}

function membersSchema(operation: Write["operation"]): z.ZodType {
  const isAddContact = operation === "v1.contactGroups.addContact";
  const options = isAddContact || operation.endsWith(".request") ? withConsent : optionsSchema;
  const members = isAddContact ? ["listId", "contact"] : [sentMembers[operation]];
  const required = z.unknown().refine((value) => value !== undefined, "required");
  return z.strictObject(
    {
      operation: z.string(),
      ...Object.fromEntries(members.map((name) => [name, required])),
      options: options.optional(),
    },
    { error: unknownKeys(`unknown key: this write has operation, ${members.join(", ")} and options`) },
  );
}

/** What JSON makes of a write. Throws a `ValidationError` that names the members by which it is none. */
function parseWrite(write: unknown): Write {
  const found: ValidationIssue[] = [];
  const copy: unknown = validate(writeSchema, write, found);
  if ((isRecord(copy) ? copy["operation"] : undefined) === undefined) {
    const message = `must be one write, as write.v1.customers.upsert(contact) gives it, not ${kindOf(write)}`;
    throw new ValidationError([{ path: [], code: "invalid_type", message }]);
  }
  const operation = operationOf(copy);
  const sent = operation && sentMembers[operation];
  // What is wrong inside of what is sent, the endpoint says with the paths of a direct call.
  const issues = found.filter(
    ({ path: [name] }) => sent === undefined || name !== sent || propertyOf(copy, sent) === undefined,
  );
  if (issues.length > 0) throw new ValidationError(issues);
  // Safe: its members are those of its operation, and the endpoint judges what it sends.
  return copy as Write;
}
