import { AudienceClient, isAudienceError, type Fetch } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validEvent } from "./valid-inputs.ts";

const text = '{"data":{"type":"profile","id":"contact-1","attributes":{"email":"ada@example.com"}}}';

function hostile(): never {
  throw new Error(hostileMessage);
}

/** Bodies that no runtime's fetch returns. */
const unusualBodies: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => text,
  () => Buffer.from(text),
  () => ({ getReader: hostile }),
  () => ({ getReader: () => undefined }),
  () => ({ getReader: () => ({ read: hostile, cancel: hostile }) }),
  () => ({ getReader: () => ({ read: async () => undefined, cancel: async () => undefined }) }),
  () => ({ getReader: () => ({ read: () => ({ done: false, value: "text" }), cancel: () => undefined }) }),
  () => ({ getReader: () => ({ read: async () => ({ done: false, value: new Uint8Array(0) }) }) }),
  () => ({ getReader: () => ({ read: () => new Promise(() => undefined), cancel: async () => hostile() }) }),
  () => {
    const stream = new Response(text).body;
    stream?.getReader();
    return stream;
  },
  () =>
    new ReadableStream({
      pull(controller) {
        controller.enqueue("no bytes");
        controller.close();
      },
    }),
  () => new ReadableStream({ start: (controller) => controller.error(new Error(hostileMessage)) }),
  () => new ReadableStream({ start: (controller) => controller.error(undefined) }),
  () => new ReadableStream({ cancel: hostile }),
  () => new ReadableStream({ pull: async (controller) => controller.enqueue(Buffer.alloc(70_000, "x")) }),
  () => Object.defineProperty({}, "getReader", { get: hostile }),
];

/** A response of another implementation. A graft copies it, so each value gets its own body. */
const responseWith = (body: () => unknown) => ({
  status: 200,
  ok: true,
  url: "https://api.example.com/",
  headers: new Headers({ "retry-after": "1", "content-type": "application/json" }),
  get body() {
    return body();
  },
});
const responses = [
  responseWith(() => new Response(text).body),
  { ...responseWith(() => null), status: 500, ok: false },
  { ...responseWith(() => null), status: 302, headers: { get: hostile, forEach: hostile } },
  {
    ...responseWith(() => null),
    headers: { get: () => 5, forEach: (each: (value: unknown) => void) => each(5) },
  },
];

async function use(fetch: Fetch): Promise<void> {
  const client = new AudienceClient({ ...offline, fetch, timeoutMs: 40, maxResponseBytes: 100_000 });
  const asked = client.v1.customers.get("contact-1").withResponse();
  const calls = [asked, client.v1.events.send(validEvent), client.v2.lists.list().toArray({ max: 2 })];
  const endings = await Promise.allSettled(calls);
  for (const ending of endings) {
    if (ending.status === "fulfilled") JSON.stringify(ending.value);
    else if (!isAudienceError(ending.reason)) throw ending.reason;
    else expect(JSON.stringify(ending.reason)).not.toContain("test-key");
  }
  const failed = endings.find((ending) => ending.status === "rejected");
  if (failed) throw failed.reason;
}

describe("For any result of a custom fetch, a call returns a value or rejects with an SDK error", () => {
  it.each([
    ["as its promise's value", (value: unknown) => async () => value],
    ["at once", (value: unknown) => () => value],
    [
      "as the value that it throws",
      (value: unknown) => () => {
        throw value;
      },
    ],
    [
      "as the reason of its rejection",
      (value: unknown) => async () => {
        throw value;
      },
    ],
  ])("%s", async (_, fetchOf) => {
    // A caller in JavaScript can pass this.
    await tryEntryPoint({ act: (value) => use(fetchOf(value) as Fetch), valid: [responses] }, 60);
  });

  it.each(unusualBodies.map((body) => [String(body), body] as const))("with the body %s", async (_, body) => {
    for (const status of [200, 404, 500]) {
      const fetch = async () =>
        ({ ...responseWith(body), body: body(), status, ok: status === 200 }) as Response;
      await expect(use(fetch).catch((error: unknown) => isAudienceError(error) || error)).resolves.toBeOneOf([
        undefined,
        true,
      ]);
    }
  });
});
