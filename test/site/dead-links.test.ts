import { describe, expect, it } from "vitest";
import { deadLinks, loadedFromElsewhere } from "./dead-links.ts";

const files = new Set(["index.html", "guides/a.html", "assets/style.css"]);
const deadIn = (link: string, page = "guides/a.html") =>
  deadLinks(
    new Map([
      ["index.html", `<h2 id="limits">Limits</h2>`],
      ["guides/a.html", `<h2 id="here">Here</h2>`],
      [page, `<h2 id="here">Here</h2><a class="x" href="${link}">x</a>`],
    ]),
    files,
  );

describe("A link of the site", () => {
  it.each([
    "../index.html",
    "../index.html#limits",
    "#here",
    "#",
    "../assets/style.css",
    "https://example.com/nothing",
    "mailto:ada@example.com",
  ])("lives: %s", (link) => {
    expect(deadIn(link)).toEqual([]);
  });

  it.each(["nothing.html", "../index.html#nothing", "#nothing", "/index.html", "../../index.html"])(
    "is dead: %s",
    (link) => {
      expect(deadIn(link)).toEqual([`guides/a.html: ${link}`]);
    },
  );
});

describe("The site", () => {
  it("loads nothing from another machine, but may link to it", () => {
    const html = `<a href="https://example.com/">x</a><script src="https://example.com/x.js"></script>`;
    expect(loadedFromElsewhere(new Map([["index.html", html]]))).toEqual([
      "index.html: https://example.com/x.js",
    ]);
  });
});
