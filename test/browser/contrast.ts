import type { Page } from "playwright-core";

/** Text of the page whose contrast is under 4.5 to 1 (WCAG 2.2, 1.4.3), each with its ratio. */
export async function lowContrast(page: Page): Promise<string[]> {
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
export async function namelessControls(page: Page): Promise<string[]> {
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
