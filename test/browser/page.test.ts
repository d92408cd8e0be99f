import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { email, playAnHour, Scene } from "./scene.ts";

const MARKUP = `<img src=x onerror="document.title='taken'">`;

describe("On the page of the mock", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.visit();
  });
  afterEach(() => scene.close());

  it("a request appears by itself, with its operation, status, person and what it changed", async () => {
    await scene.page.getByText("No request yet").waitFor();
    await scene.send("/api/v1/customer/create", { email, email_opt_in: "SUBSCRIBED" });
    const item = scene.item("v1.customers.upsert");
    await item.waitFor();

    expect(await item.innerText()).toMatch(
      /201\s+v1\.customers\.upsert\s+ada@example\.com\s+created · email SUBSCRIBED/,
    );
    expect(await scene.page.getByRole("tab", { name: "Requests" }).innerText()).toMatch(/1$/);
  });

  it("a refused request opens into what was sent, and the rule with its section of the document", async () => {
    await scene.send("/api/v1/customer/create", { emial: email });
    const item = await scene.open("v1.customers.upsert");
    const text = await item.innerText();

    expect(text).toContain("Refused for emial is not a recognized field");
    expect(text).toContain('("v1 contact")');
    expect(text).toContain("It was not applied.");
    expect(text).toContain('"emial": "ada@example.com"');
    expect(text).toMatch(/x-api-key\s+\(not shown\)/);
    expect(text).not.toContain("acme-key");
  });

  it("an answer that a fault swallowed says that the write was applied, and the next is try 2", async () => {
    scene.mock.addFault({ kind: "reset-after", times: 1 });
    await scene.send("/api/v1/customer/create", { email });
    await scene.send("/api/v1/customer/create", { email });
    await scene.item("try 2").waitFor();
    const lost = await scene.open("reset-after");

    expect(await lost.innerText()).toMatch(
      /✗ lost[\s\S]+applied[\s\S]+The connection broke\.[\s\S]+It was applied\./,
    );
  });

  it("a stance of the mock is told by the name of its variant", async () => {
    await playAnHour(scene);
    const item = await scene.open("v2.contacts.upsert");

    expect(await item.innerText()).toContain("The document is silent here: v2UnknownList is ignored.");
  });

  it("a request can be copied as curl, without the key", async () => {
    await scene.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await scene.send("/api/v1/customer/create", { email, first_name: "Ada's" });
    const item = await scene.open("v1.customers.upsert");
    await item.getByRole("button", { name: "Copy as curl" }).click();
    await scene.page.getByText("The curl command was copied.").waitFor();
    const command = await scene.page.evaluate(() => navigator.clipboard.readText());

    expect(command).toContain(`curl -X POST '${scene.server.url}/api/v1/customer/create'`);
    expect(command).toContain('-H "X-API-Key: $AUDIENCE_API_KEY"');
    expect(command).toContain(String.raw`"first_name":"Ada'\''s"`);
    expect(command).not.toContain("acme-key");
  });

  it("the environment of the chosen organization can be copied", async () => {
    await scene.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await scene.page.getByLabel("Organization").selectOption("globex");
    await scene.page.getByRole("button", { name: "Copy environment" }).click();
    await scene.page.getByText("The environment was copied.").waitFor();

    expect(await scene.page.evaluate(() => navigator.clipboard.readText())).toContain(
      `export AUDIENCE_BASE_URL=${scene.server.url}\n`,
    );
    expect(await scene.page.evaluate(() => navigator.clipboard.readText())).toContain(
      "AUDIENCE_API_KEY=globex-key\n",
    );
  });

  it("a person unsubscribes, and their history tells it; what is open stays open, with the focus", async () => {
    await scene.tab("Contacts");
    const person = await scene.open("grace@example.com");
    const button = person.getByRole("button", { name: "Unsubscribes (e-mail)" });
    await button.focus();
    await scene.page.keyboard.press("Enter");
    await person.getByText("email SUBSCRIBED → UNSUBSCRIBED, by the person").waitFor();

    expect(scene.mock.organization("acme").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
    expect(await button.count()).toBe(0);
    const head = person.locator(".head");
    expect(await head.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("a resubscription is marked at its request and its person, counted in the head, and found by the filters", async () => {
    await scene.send("/api/v1/customer/create", { email: "grace@example.com", city: "Rome" });
    scene.mock.unsubscribe("grace@example.com");
    await scene.send("/api/v1/customer/create", { email: "grace@example.com", email_opt_in: "SUBSCRIBED" });
    await scene.send("/api/v1/customer/create", { emial: email });
    await scene.page.locator("header").getByText("1 resubscription").waitFor();
    await scene.item("emial").waitFor();
    const items = scene.page.locator(".item");
    expect(await items.count()).toBe(3);

    await scene.page.getByLabel("resubscriptions").check();
    await scene.item("emial").waitFor({ state: "detached" });
    expect(await items.allInnerTexts()).toEqual([
      expect.stringMatching(/resubscription\s+email UNSUBSCRIBED/),
    ]);
    await scene.page.getByLabel("resubscriptions").uncheck();
    await scene.page.getByLabel("Status").selectOption("4xx");
    await scene.item("emial").waitFor();
    expect(await items.count()).toBe(1);
    await scene.page.getByLabel("Operation", { exact: true }).selectOption("v1.events.send");
    await scene.page.getByText("Nothing matches").waitFor();

    await scene.tab("Contacts");
    const person = await scene.open("grace@example.com");
    expect(await person.innerText()).toMatch(/by v1\.customers\.upsert\s+resubscription/);
  });

  it("a person answers the mail of a double opt-in", async () => {
    await scene.send("/api/v1/customer/create", { email, double_opt_in: true });
    await scene.tab("Contacts");
    const person = await scene.open(email);
    await person.getByRole("button", { name: "Confirms (double opt-in)" }).click();
    await person.getByText("email NON_SUBSCRIBED → SUBSCRIBED, by the person").waitFor();

    expect(scene.mock.organization("acme").contacts[1]).toMatchObject({ email, email_opt_in: "SUBSCRIBED" });
  });

  it("lists have their members, and events the automations and webhook calls that they started", async () => {
    await playAnHour(scene);
    await scene.tab("Lists");
    expect(await (await scene.open("Newsletter")).innerText()).toMatch(
      /2 members[\s\S]+ada@example\.com[\s\S]+grace/,
    );
    await scene.tab("Events");
    expect(await (await scene.open("order placed")).innerText()).toMatch(
      /automation Thanks[\s\S]+webhook .+\/hooks: 204/,
    );
    await scene.tab("Webhooks");
    expect(await (await scene.open("/hooks")).innerText()).toMatch(/Thanks for ada@example\.com\s+204/);
  });

  it("an old request is found, and says that its response is no longer kept", async () => {
    await scene.send("/api/v1/customer/create", { email });
    for (let number = 0; number < 500; number += 1) await scene.mock.fetch(`${scene.server.url}/v2/lists`);
    await scene.page.getByText("The latest 500 of 501 are shown.").waitFor();
    await scene.page.getByRole("searchbox").fill(email);
    const item = await scene.open("v1.customers.upsert");

    expect(await item.innerText()).toMatch(/201[\s\S]+Response\s+No longer kept/);
  });

  it("webhook calls of one millisecond are shown one by one", async () => {
    await scene.close();
    scene = await Scene.open({ options: { clock: () => 1_000 } });
    await scene.visit();
    const order = { eventName: "order placed", contact: { email } };
    await scene.send("/api/v1/events", order);
    await scene.send("/api/v1/events", order);
    await scene.mock.settled();
    await scene.tab("Webhooks");

    await expect.poll(() => scene.page.locator(".item").count()).toBe(2);
  });

  it("a fault is armed by the form, meets the next request, and can be removed", async () => {
    await scene.page.getByLabel("Next request of").selectOption("v2.lists.list");
    await scene.page.getByLabel("fails with").selectOption("500-before");
    await scene.page.getByLabel("Times").fill("2");
    await scene.page.getByRole("button", { name: "Arm" }).click();
    await scene.page.getByText("2 to come, affected 0").waitFor();
    await scene.send("/v2/lists");
    await scene.page.getByText("1 to come, affected 1").waitFor();
    await scene.page.getByRole("button", { name: "Remove 500-before for v2.lists.list" }).click();
    await scene.page.getByText("affected 1").waitFor({ state: "detached" });
    await scene.send("/v2/lists");

    expect(scene.mock.requests.map(({ status }) => status)).toEqual([500, 200]);
  });

  it("the focus stays on the button of a fault that affects a request, and on a text that changes", async () => {
    const focused = () => scene.page.evaluate(() => document.activeElement?.textContent ?? "");
    scene.mock.addFault({ kind: "latency", delayMs: 1 });
    await scene.page.getByRole("button", { name: "Remove latency" }).focus();
    await scene.send("/api/v1/customer/create", { email, double_opt_in: true });
    await scene.page.getByText("affected 1").waitFor();

    expect(await focused()).toBe("Remove");
    await scene.tab("Contacts");
    const person = await scene.open(email);
    await person.locator("pre").focus();
    scene.mock.unsubscribe(email);
    await person.getByText("email NON_SUBSCRIBED → UNSUBSCRIBED, by the person").waitFor();
    expect(await focused()).toContain('"email_opt_in": "UNSUBSCRIBED"');
  });

  it("the focus moves on to the line of its item, if its button is gone", async () => {
    await scene.send("/api/v1/customer/create", { email, double_opt_in: true });
    await scene.tab("Contacts");
    const person = await scene.open(email);
    const button = person.getByRole("button", { name: "Confirms (double opt-in)" });
    await button.focus();
    scene.mock.unsubscribe(email);
    await button.waitFor({ state: "detached" });

    await expect.poll(() => person.locator(".head:focus").count()).toBe(1);
    scene.mock.reset();
    await person.waitFor({ state: "detached" });
    expect(await scene.page.locator("#panel:focus").count()).toBe(1);
  });

  it("the gauges tell what is used, and when the next permit is due", async () => {
    for (let number = 0; number < 11; number += 1) await scene.send("/v2/lists");
    const minute = scene.page.getByRole("meter", { name: "Requests per minute" });
    await expect.poll(() => minute.getAttribute("aria-valuetext")).toBe("10 of 100, free");

    expect(scene.mock.requests.at(-1)).toMatchObject({ status: 429 });
    await scene.item("rate limit exceeded").waitFor();
  });

  it("the search finds requests by any of their words", async () => {
    await playAnHour(scene);
    await scene.page.getByRole("searchbox").fill("linus upsert");
    await expect.poll(() => scene.page.locator(".item").count()).toBe(1);

    expect(await scene.item("linus@example.com").isVisible()).toBe(true);
    await scene.page.getByRole("searchbox").fill("nobody");
    await scene.page.getByText("Nothing matches the search.").waitFor();
  });

  it("markup in every field is shown as text", async () => {
    scene.mock.addFault({ kind: "latency", delayMs: 1 });
    const body = { email, first_name: MARKUP, custom_properties: { [MARKUP]: MARKUP } };
    await scene.send("/api/v1/customer/create", body, { "x-markup": MARKUP });
    await scene.send(`/api/v1/customer/${encodeURIComponent(MARKUP)}`);
    await scene.send("/api/v1/events", {
      eventName: MARKUP,
      uniqueIdentifier: MARKUP,
      contact: { email },
      eventData: { [MARKUP]: MARKUP },
    });
    await scene.open("v1.customers.upsert");
    await scene.open("v1.customers.get");
    for (const tab of ["Contacts", "Events"]) {
      await scene.tab(tab);
      await scene.open(tab === "Events" ? MARKUP : email);
    }

    expect(await scene.page.title()).toBe("audience-mock");
    expect(await scene.page.locator("img").count()).toBe(0);
  });

  it("a hidden tab asks nothing, and asks again when it is seen", async () => {
    const asked: string[] = [];
    scene.page.on("request", (request) => void asked.push(request.url()));
    await scene.page.clock.install();
    const hide = (isHidden: boolean) =>
      scene.page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await hide(true);
    // The question that was under way is over.
    await scene.page.waitForLoadState("networkidle");
    asked.length = 0;
    await scene.page.clock.runFor(5_000);
    const whileHidden = asked.length;
    await hide(false);
    await expect.poll(() => asked.length).toBeGreaterThan(0);

    expect(whileHidden).toBe(0);
  });

  it("that the mock is gone is seen, and that it is back", async () => {
    await scene.page.route("**/__mock/**", (route) => route.abort());
    await scene.page.locator("#dot.off").waitFor();
    await scene.page.getByRole("status").getByText("The mock does not answer.").waitFor();
    await scene.page.unroute("**/__mock/**");
    await scene.page.locator("#dot:not(.off)").waitFor();
    await scene.page.getByText("The mock does not answer.").waitFor({ state: "detached" });

    scene.complaints.length = 0;
  });

  it("on an insecure origin what cannot be copied is shown, selected", async () => {
    const { port } = new URL(scene.server.url);
    await scene.page.goto(`http://mock.test:${port}/`);
    await scene.page.getByRole("button", { name: "Copy environment" }).click();
    const text = await scene.page.getByRole("textbox", { name: "Text to copy" }).inputValue();
    await scene.page.getByRole("button", { name: "Close" }).click();

    expect(text).toContain(`export AUDIENCE_BASE_URL=http://mock.test:${port}\n`);
    scene.complaints.length = 0;
  });
});
