import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMockService, type MockListener, type MockServiceOptions } from "audience-sdk/mock";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { openBrowser } from "./browser.ts";

export const email = "ada@example.com";

/** One for all scenes of a file, each in a context of its own. */
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** A mock on a free port, and its page in a browser. */
export class Scene {
  readonly mock;
  readonly page: Page;
  readonly server: MockListener;
  /** What the page's console showed, and what it asked of other origins. */
  readonly complaints: string[] = [];
  readonly #receiver;

  private constructor(mock: ReturnType<typeof createMockService>, parts: Parts) {
    this.mock = mock;
    this.page = parts.page;
    this.server = parts.server;
    this.#receiver = parts.receiver;
    const { origin } = new URL(parts.server.url);
    this.page.on("console", (message) => void this.complaints.push(message.text()));
    this.page.on("pageerror", ({ message }) => void this.complaints.push(message));
    this.page.on("request", (request) => {
      if (new URL(request.url()).origin !== origin && !request.url().startsWith("data:"))
        this.complaints.push(request.url());
    });
  }

  static async open({ options, context }: Opening = {}): Promise<Scene> {
    const receiver = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const mock = createMockService({
      organizations: [
        {
          id: "acme",
          apiKeys: ["acme-key"],
          appId: "acme-app",
          lists: [{ id: "news", name: "Newsletter" }],
          contacts: [{ email: "grace@example.com", email_opt_in: "SUBSCRIBED", lists: ["news"] }],
          automations: [
            { name: "Hello", on: { listId: "news" } },
            {
              name: "Thanks",
              on: { event: "order placed" },
              webhook: { url: `http://127.0.0.1:${port}/hooks` },
            },
          ],
        },
        { id: "globex", apiKeys: ["globex-key"], appId: "globex-app" },
      ],
      rateLimits: "documented",
      ...options,
    });
    browser ??= openBrowser();
    const server = await mock.listen({ allowHosts: ["mock.test"] });
    const page = await (await browser).newPage({ viewport: { width: 1240, height: 820 }, ...context });
    return new Scene(mock, { page, server, receiver });
  }

  async visit(): Promise<void> {
    await this.page.goto(this.server.url);
    await this.page.getByRole("tab", { selected: true }).waitFor();
    // The first answer fills the choices.
    await this.page.locator("#organization option").first().waitFor({ state: "attached" });
  }

  /** A request of a client elsewhere. */
  async send(path: string, body?: object, headers: Record<string, string> = {}): Promise<void> {
    const keys = { "x-api-key": "acme-key", "service-api-key": "acme-key", "service-app-id": "acme-app" };
    const all = { ...keys, "content-type": "application/json", ...headers };
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    // A fault may break the connection.
    await fetch(this.server.url + path, { ...init, headers: all }).catch(() => undefined);
  }

  /** Opens a tab, and waits until it is shown. */
  async tab(name: string): Promise<void> {
    await this.page.getByRole("tab", { name }).click();
    await this.page.getByRole("tabpanel", { name }).waitFor();
  }

  /** The line of an item with this text. */
  item(text: string | RegExp) {
    return this.page.locator(".item", { hasText: text }).first();
  }

  async open(text: string | RegExp) {
    const item = this.item(text);
    await item.getByRole("button", { expanded: false }).click();
    await item.locator(".body").waitFor();
    return item;
  }

  /** Closes all, and expects a quiet console and no request to anywhere else. */
  async close(): Promise<void> {
    await this.page.close();
    await this.server.close();
    this.#receiver.close();
    this.#receiver.closeAllConnections();
    expect(this.complaints).toEqual([]);
  }
}

interface Opening {
  options?: MockServiceOptions;
  context?: BrowserContextOptions;
}

interface Parts {
  page: Page;
  server: MockListener;
  receiver: ReturnType<typeof createServer>;
}

/** What happens in an hour of work: a refusal, a lost answer and its retry, an event, a stance, someone who left. */
export async function playAnHour(scene: Scene): Promise<void> {
  const signUp = { email, email_opt_in: "SUBSCRIBED", double_opt_in: true };
  await scene.send("/api/v1/customer/create", { emial: email });
  await scene.send("/api/v1/customer/create", { ...signUp, first_name: "Ada" });
  scene.mock.addFault({ kind: "reset-after", times: 1, operation: "v1.contactGroups.addContact" });
  await scene.send("/api/v1/contact-groups/news/contacts", signUp);
  await scene.send("/api/v1/contact-groups/news/contacts", signUp);
  const order = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email } };
  await scene.send("/api/v1/events", { ...order, eventData: { total: 42 } });
  const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
  const channels = { email: { status: "subscribed" } };
  const identifiers = [{ type: "email", id: "linus@example.com", channels, consent }];
  await scene.send("/v2/contacts", { firstName: "Linus", listIds: ["no-list"], identifiers });
  await scene.send("/v2/lists");
  scene.mock.unsubscribe("grace@example.com");
  await scene.mock.settled();
}
