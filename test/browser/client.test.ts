import { build } from "esbuild";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { repository } from "../project/source-files.ts";
import { Scene } from "./scene.ts";

/** The client and the mock as a page's bundler makes them, as the global `sdk`. */
let bundle: string;
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents:
        'export { AudienceClient } from "audience-sdk"; export { createMockService } from "audience-sdk/mock";',
      resolveDir: repository,
    },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    globalName: "sdk",
    external: ["node:*"],
    write: false,
    logLevel: "error",
  });
  bundle = outputFiles[0]!.text;
});

/** The part of the package's types that the programs in the page use. */
type Sdk = Pick<typeof import("audience-sdk"), "AudienceClient"> &
  Pick<typeof import("audience-sdk/mock"), "createMockService">;
declare const sdk: Sdk;

describe("In a browser, the client", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open({ options: { rateLimits: false } });
  });
  afterEach(() => scene.close());

  /** Any answer of the origin, with the bundle: a browser keeps a page that a test makes up from loopback. */
  async function load(origin = scene.server.url): Promise<void> {
    await scene.page.goto(`${origin}/__mock/environment`);
    await scene.page.addScriptTag({ content: bundle });
  }

  const options = (origin = scene.server.url) => ({
    baseUrl: origin,
    baseUrlV2: origin,
    apiKey: "acme-key",
    appId: "acme-app",
    rateLimiter: false as const,
    dangerouslyAllowBrowser: true,
  });

  it("refuses to be made without dangerouslyAllowBrowser, as its key would be public", async () => {
    await load();
    const message = await scene.page.evaluate(
      (given) => {
        try {
          return typeof new sdk.AudienceClient(given);
        } catch (error) {
          return String(error);
        }
      },
      { ...options(), dangerouslyAllowBrowser: false },
    );

    expect(message).toMatch(/^ConfigurationError: .*dangerouslyAllowBrowser/);
  });

  it("makes the calls of both families", async () => {
    await load();
    const result = await scene.page.evaluate(async (given) => {
      const { v1, v2 } = new sdk.AudienceClient(given);
      const { id } = await v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
      await v1.contactGroups.addContact("news", { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
      await v1.events.send({ eventName: "order placed", contact: { email: "ada@example.com" } });
      const { items } = await v2.lists.list();
      return { id, lists: items.length };
    }, options());
    const { contacts, events, memberships } = scene.mock.organization("acme");

    expect(result).toEqual({ id: contacts[1]?.id, lists: 1 });
    expect(contacts[1]).toMatchObject({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
    expect(memberships).toHaveLength(2);
    expect(events).toHaveLength(1);
  });

  it("runs against the mock in the same page", async () => {
    await load();
    const state = await scene.page.evaluate(async () => {
      const mock = sdk.createMockService();
      const { v1 } = new sdk.AudienceClient({ ...mock.clientOptions, dangerouslyAllowBrowser: true });
      await v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
      mock.unsubscribe("ada@example.com");
      return mock.organization("mock-organization").contacts.map(({ email_opt_in }) => email_opt_in);
    });

    expect(state).toEqual(["UNSUBSCRIBED"]);
    expect(scene.mock.requests).toEqual([]);
  });

  it("sends events with an identifier on an insecure origin, too", async () => {
    const origin = `http://mock.test:${new URL(scene.server.url).port}`;
    await load(origin);
    const isSecure = await scene.page.evaluate(() => isSecureContext);
    await scene.page.evaluate(async (given) => {
      const { v1 } = new sdk.AudienceClient({ ...given, allowInsecureHttp: true });
      await v1.events.send({ eventName: "order placed", contact: { email: "ada@example.com" } });
    }, options(origin));
    const [event] = scene.mock.organization("acme").events;

    expect(isSecure).toBe(false);
    expect(event?.uniqueIdentifier).toMatch(
      /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    );
    scene.complaints.length = 0;
  });
});
