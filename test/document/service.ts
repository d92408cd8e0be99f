import { inspect, isDeepStrictEqual } from "node:util";
import {
  AudienceClient,
  type AudienceError,
  ValidationError,
  type ClientOptions,
  type V2Contact,
  type V2Identifier,
} from "audience-sdk";
import type { MockOrganizationSeed, MockServiceOptions } from "audience-sdk/mock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { inProcess, type EntryPoint, type OpenEntryPoint } from "../mock/entry-points.ts";
import type { Field } from "../properties/payloads/fields.ts";
import { failureOf } from "../transport/failure.ts";

/** A client and its mock. */
export type Service = ReturnType<typeof useService>;

export interface ServiceOptions extends MockServiceOptions {
  /** By default in process. */
  entryPoint?: EntryPoint;
}

/** The time on the mock's clock. */
export const now = "2026-01-31T00:00:00.000Z";

/** A service for the tests of the enclosing `describe`: Acme and Globex, reset before each test. */
export function useService({ entryPoint = inProcess, ...mockOptions }: ServiceOptions = {}) {
  const clients: AudienceClient[] = [];
  let open: OpenEntryPoint;
  let audience: AudienceClient | undefined;

  beforeAll(async () => {
    open = await entryPoint.open({
      organizations: [acme, globex],
      clock: () => Date.parse(now),
      ...mockOptions,
    });
  });
  beforeEach(() => open.mock.reset());
  afterEach(async () => {
    audience = undefined;
    await Promise.all(clients.splice(0).map((each) => each.close()));
  });
  afterAll(() => open.close());

  /** Another client of the same mock, with other options. */
  const clientWith = (options: ClientOptions): AudienceClient => {
    const created = new AudienceClient({ ...open.options, ...options });
    clients.push(created);
    return created;
  };
  /** The current state of Acme. */
  const state = () => open.mock.organization("acme");
  return {
    clientWith,
    state,
    get mock() {
      return open.mock;
    },
    get audience() {
      audience ??= clientWith({});
      return audience;
    },
    get options() {
      return open.options;
    },
    /** Acme's contact with this e-mail or phone, as stored. */
    contact: (name: string) => state().contacts.find(({ email, phone }) => email === name || phone === name),
    /** A plain request with valid credentials, for rules that the client never breaks. `""` omits a header. */
    send: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      open.call(path, { method, body, headers }),
  };
}

/** The organization of the client's keys. */
export const acme: MockOrganizationSeed = {
  id: "acme",
  apiKeys: ["acme-mock-key", "acme-mock-key-two"],
  apiKeysV2: ["acme-mock-key-v2"],
  appId: "acme-mock-app",
  lists: [
    { id: "news", name: "Newsletter", description: "Weekly", created_at: 1_700_000_000 },
    { id: "offers", name: "Offers", created_at: 1_700_000_001 },
    { id: "engaged", name: "Engaged", type: "SEGMENT", created_at: 1_700_000_002 },
  ],
  contacts: [
    {
      id: "ada",
      email: "ada@example.com",
      phone: "+390111111",
      first_name: "Ada",
      email_opt_in: "UNSUBSCRIBED",
    },
    { id: "grace", email: "grace@example.com", email_opt_in: "SUBSCRIBED", lists: ["news"] },
  ],
  automations: [
    { name: "Thanks", on: { event: "order placed" } },
    { name: "Hello", on: { listId: "news" } },
  ],
  welcomeFlow: true,
};

/** Another organization of the same service, without lists, contacts or a welcome email flow. */
export const globex: MockOrganizationSeed = {
  id: "globex",
  apiKeys: ["globex-mock-key"],
  appId: "globex-mock-app",
};

/** The call rejects with an issue for each of these paths, or `path code`, and no request has arrived at the mock. */
export async function expectNotSent(
  service: Service,
  call: PromiseLike<unknown>,
  ...paths: string[]
): Promise<ValidationError> {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ValidationError);
  const refusal = error as ValidationError; // Safe: the line above fails otherwise.
  const withCodes = paths.some((path) => path.includes(" "));
  const found = refusal.issues.map(({ path, code }) => path.join(".") + (withCodes ? ` ${code}` : ""));
  expect([...new Set(found)].toSorted()).toEqual(paths.toSorted());
  expect(refusal.outcome).toBe("not-sent");
  expect(service.mock.requests).toEqual([]);
  return refusal;
}

/** The service refuses the same body with 400, and its state does not change. */
async function expectRefusedByService(service: Service, path: string, body: unknown): Promise<void> {
  const before = service.state();
  const { status } = await service.send("POST", path, body);
  expect(status).toBe(400);
  expect(service.mock.requests).toMatchObject([{ method: "POST", path, status: 400, applied: false }]);
  expect(service.state()).toEqual(before);
}

/** The call rejects with an error of this class, with these members. */
export async function expectError(
  call: PromiseLike<unknown>,
  type: abstract new (...args: never[]) => AudienceError,
  members: object = {},
): Promise<void> {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(type);
  expect(error).toMatchObject(members);
}

export const consent: V2Identifier["consent"] = {
  createdAt: "2026-01-31T09:30:00Z",
  ip: "192.0.2.1",
  source: "web form",
};

export function emailIdentifier(id: string, status = "subscribed"): V2Identifier {
  return { type: "email", id, channels: { email: { status } }, consent };
}

export function phoneIdentifier(id: string | number, status = "subscribed"): V2Identifier {
  return { type: "phone", id, channels: { phone: { status } }, consent };
}

/** A new v2 contact. */
export function v2Contact(more: Partial<V2Contact> = {}): V2Contact {
  return { firstName: "Alan", listIds: [], identifiers: [emailIdentifier("alan@example.com")], ...more };
}

/** An untyped value, for example from a file or from a program in JavaScript. */
export function untyped(value: unknown): never {
  // Safe: the test passes a value of a wrong type on purpose.
  return value as never;
}

/** A row of one of the document's field tables, with values at, below and above each bound, and of other types. */
export interface FieldRow extends Pick<Field, "allowed" | "forbidden"> {
  /** The field, or the path to it. */
  field: string;
  rule: string;
  /** What the client refuses, and the service, whose document does not forbid it, takes. */
  ofClient?: readonly unknown[];
  /** The code of the issue: of a string, or of any value. Of another type it is `invalid_type`. */
  code?: string | ((value: unknown) => string);
}

function codeOf({ code }: FieldRow, value: unknown): string {
  if (typeof code === "function") return code(value);
  return typeof value === "string" && code !== undefined ? code : "invalid_type";
}

/** A call that writes a body, and the path to which it is sent. */
export interface WritingCall {
  readonly service: Service;
  readonly path: string;
  readonly call: (body: unknown) => PromiseLike<unknown>;
}

/** A test for each change of a body that neither the client sends nor the service takes; an issue is a `path`, or `path code`. */
export function testRefused(
  { service, path, call }: WritingCall,
  base: object,
  changes: readonly (readonly [change: unknown, ...issues: string[]])[],
): void {
  it.each(changes.map(([change, ...issues]) => ({ shown: inspect(change, { depth: 5 }), change, issues })))(
    "$shown is not sent, and refused by the service",
    async ({ change, issues }) => {
      const isWhole = typeof change !== "object" || change === null || Array.isArray(change);
      const body = isWhole ? change : { ...base, ...change };
      await expectNotSent(service, call(body), ...issues);
      await expectRefusedByService(service, path, body);
    },
  );
}

/** Tests for each row of a field table. `at` is the path of the fields in the issues. */
export function testFields<Row extends FieldRow>(
  { service, path, call }: WritingCall,
  rows: readonly Row[],
  bodyWith: (field: string, value: unknown) => unknown,
  {
    at = "",
    expectStored = () => {},
  }: { at?: string; expectStored?: (row: Row, value: unknown) => void } = {},
): void {
  const issuesOf = (row: Row, value: unknown) => [
    `${at}${row.field} ${codeOf(row, value)}`,
    ...(isDeepStrictEqual(value, [null]) ? [`${at}${row.field}.0 custom`] : []),
  ];

  it.each([...rows])("$field is $rule: what fits is sent and stored", async (row) => {
    for (const value of row.allowed) {
      service.mock.reset();
      const body = bodyWith(row.field, value);
      await call(body);

      expect(service.mock.requests, inspect(value)).toMatchObject([{ path, applied: true }]);
      expect(service.mock.requests[0]?.body).toEqual(body);
      expectStored(row, value);
    }
  });

  it.each([...rows])("$field is $rule: nothing else is sent, and the service refuses it", async (row) => {
    for (const value of row.forbidden) {
      service.mock.reset();
      await expectNotSent(service, call(bodyWith(row.field, value)), ...issuesOf(row, value));
      await expectRefusedByService(service, path, bodyWith(row.field, value));
    }
  });

  it.each(rows.filter(({ ofClient }) => ofClient))(
    "$field is $rule: what would be nobody's is not sent, although the service takes it",
    async (row) => {
      for (const value of row.ofClient ?? []) {
        service.mock.reset();
        await expectNotSent(service, call(bodyWith(row.field, value)), ...issuesOf(row, value));
        expect((await service.send("POST", path, bodyWith(row.field, value))).status).toBeLessThan(300);
      }
    },
  );
}
