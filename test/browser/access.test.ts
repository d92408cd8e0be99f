import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { playAnHour, Scene } from "./scene.ts";

const TABS = ["Requests", "Contacts", "Lists", "Events", "Webhooks"];

async function open(context: NonNullable<Parameters<typeof Scene.open>[0]>["context"] = {}): Promise<Scene> {
  const scene = await Scene.open({ context });
  onTestFinished(() => scene.close());
  await playAnHour(scene);
  await scene.visit();
  await scene.item("v1.customers.upsert").waitFor();
  return scene;
}

/** Each tab with one item open. */
async function eachTab(scene: Scene, look: (tab: string) => Promise<void>): Promise<void> {
  for (const tab of TABS) {
    await scene.tab(tab);
    await scene.open(/./);
    await look(tab);
  }
}

/** Text of the page whose contrast is under 4.5 to 1 (WCAG 2.2, 1.4.3), each with its ratio. */
async function lowContrast(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const isClear = (color: string) => channels(color)[3] === 0;
    const backgroundOf = (element: Element): string => {
      const { backgroundColor } = getComputedStyle(element);
      const { parentElement } = element;
      return isClear(backgroundColor) && parentElement ? backgroundOf(parentElement) : backgroundColor;
    };
    const hasText = (element: Element) =>
      [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim());
    return [...document.querySelectorAll<HTMLElement>("body *")].flatMap((element) => {
      if (!hasText(element) || !element.checkVisibility() || element.closest(".unseen, script, .skip"))
        return [];
      const [text, back] = [luminance(getComputedStyle(element).color), luminance(backgroundOf(element))];
      const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
      return ratio < 4.5 ? [`${element.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`] : [];
    });
  });
}

/** Controls without a name for a screen reader, and ids that are used twice. */
async function namelessControls(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const controls = document.querySelectorAll<HTMLElement>(
      "button, input, select, textarea, [role=meter], [role=tab]",
    );
    const nameOf = (element: HTMLElement) =>
      element.getAttribute("aria-label") ??
      (element instanceof HTMLButtonElement ? element.textContent : element.closest("label")?.textContent);
    const nameless = [...controls].filter((element) => !nameOf(element)?.trim());
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return [...nameless.map(({ outerHTML }) => outerHTML), ...ids.filter((id, at) => ids.indexOf(id) !== at)];
  });
}

describe("The page can be read", () => {
  it.each(["light", "dark"] as const)("in %s: every text has a contrast of 4.5 to 1", async (colorScheme) => {
    const scene = await open({ colorScheme });

    await eachTab(scene, async (tab) => expect([tab, await lowContrast(scene.page)]).toEqual([tab, []]));
  });

  it("at a width of 400 pixels, without scrolling sideways", async () => {
    const scene = await open({ viewport: { width: 400, height: 820 } });

    await eachTab(scene, async (tab) => {
      const width = await scene.page.evaluate(() => document.documentElement.scrollWidth);
      expect([tab, width]).toEqual([tab, 400]);
    });
  });

  it.each(["Welcome series for new subscribers of the monthly newsletter", "x".repeat(100)])(
    "at a width of 400 pixels, nothing cut off, if each name is %s",
    async (name) => {
      const webhook = { url: `http://127.0.0.1:9/${name}` };
      const acme = {
        id: name,
        apiKeys: ["acme-key"],
        appId: "acme-app",
        lists: [{ id: "news", name, description: name }],
        automations: [{ name, on: { event: name }, webhook }],
      };
      const webhookFetch = () => Promise.reject(new Error(name));
      const scene = await Scene.open({
        options: { organizations: [acme], webhookFetch },
        context: { viewport: { width: 400, height: 820 } },
      });
      onTestFinished(() => scene.close());
      const contact = {
        email: `${"x".repeat(60)}@example.com`,
        email_opt_in: "SUBSCRIBED",
        first_name: name,
      };
      await scene.send("/api/v1/contact-groups/news/contacts", contact);
      await scene.send("/api/v1/events", { eventName: name, uniqueIdentifier: name, contact });
      await scene.send("/api/v1/customer/create", { [name]: name });
      await scene.mock.settled();
      await scene.visit();

      await eachTab(scene, async (tab) => {
        const cut = await scene.page.evaluate(() =>
          [document.documentElement, document.querySelector("main")!].map(
            (one) => one.scrollWidth - one.clientWidth,
          ),
        );
        expect([tab, cut]).toEqual([tab, [0, 0]]);
      });
    },
  );

  it("by a screen reader: each control has a name, and landmarks, tabs and gauges their roles", async () => {
    const scene = await open();
    const { page } = scene;

    await eachTab(scene, async (tab) => expect([tab, await namelessControls(page)]).toEqual([tab, []]));
    expect(await page.getByRole("banner").count()).toBe(1);
    expect(await page.getByRole("main").getByRole("tabpanel", { name: "Webhooks" }).count()).toBe(1);
    expect(await page.getByRole("complementary").count()).toBe(1);
    expect(await page.getByRole("tab").count()).toBe(5);
    expect(await page.getByRole("meter").count()).toBe(3);
    expect(await page.getByRole("region", { name: "Faults" }).count()).toBe(1);
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
  });

  it("by a screen reader: a tab is named as it is shown, and no level of heading is left out", async () => {
    const scene = await open();
    const { page } = scene;
    const levels = () =>
      page.evaluate(() => [...document.querySelectorAll("h1, h2, h3")].map(({ localName }) => localName));

    for (const tab of TABS) {
      const shown = await page.getByRole("tab", { name: tab }).innerText();
      expect(shown).toMatch(/^[A-Z][a-z]+ \d+$/);
      expect(await page.getByRole("tab", { name: shown, exact: true }).count()).toBe(1);
    }
    await eachTab(scene, async () => expect((await levels()).join(" ")).toMatch(/^h1 h2( h3)+ h2 h2$/));
  });

  it("by a screen reader: new requests are told", async () => {
    const scene = await open();
    await scene.send("/v2/lists");

    // Not more often than every three seconds, so that they can be said.
    await expect
      .poll(() => scene.page.getByRole("log").textContent(), { timeout: 10_000 })
      .toBe("1 new request, the latest v2.lists.list: 200");
  });

  it("by keyboard: tabs by arrows, Home and End, an item by Enter", async () => {
    const scene = await open();
    const { page } = scene;
    const chosen = () => page.getByRole("tab", { selected: true }).innerText();
    await page.getByRole("tab", { name: "Requests" }).focus();
    for (const [key, name] of [
      ["ArrowRight", "Contacts"],
      ["ArrowLeft", "Requests"],
      ["ArrowLeft", "Webhooks"],
      ["ArrowRight", "Requests"],
      ["End", "Webhooks"],
      ["Home", "Requests"],
    ] as const) {
      await page.keyboard.press(key);
      expect([key, await chosen()]).toEqual([key, expect.stringContaining(name)]);
    }
    await scene.item("v2.lists.list").waitFor();
    // Past the search, the panel and three filters.
    for (let step = 0; step < 6; step += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");

    await page.getByRole("button", { expanded: true }).waitFor();
  });

  it("without motion: nothing is animated", async () => {
    const scene = await open();

    await eachTab(scene, async (tab) => {
      const moving = await scene.page.evaluate(() => document.getAnimations().length);
      expect([tab, moving]).toEqual([tab, 0]);
    });
  });
});

/** The picture of the guides is made anew where it is asked for: PICTURE=1 npm run browser. */
const picture = "examples/guides/mock-page.png";

it("The picture of the page in the guides is at most 200 kB", async () => {
  const scene = await open({ viewport: { width: 1180, height: 720 } });
  const folder = await mkdtemp(join(tmpdir(), "mock-page-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const leaver = "grace@example.com";
  scene.mock.unsubscribe(leaver);
  await scene.send("/api/v1/customer/create", { email: leaver, email_opt_in: "SUBSCRIBED" });
  await scene.item("resubscription").waitFor();
  await scene.open("v2.contacts.upsert");
  const path = process.env["PICTURE"] === undefined ? join(folder, "mock-page.png") : picture;
  await scene.page.screenshot({ path });

  expect((await stat(path)).size).toBeLessThan(200_000);
  expect((await stat(picture)).size).toBeLessThan(200_000);
});
