import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import * as client from "audience-sdk";
import * as mockModule from "audience-sdk/mock";
import { afterAll, describe, expect, it } from "vitest";
// Reaches into src: no public name tells the defaults.
import { variantsOf } from "../../src/mock/default-variants.ts";
import { thrownBy } from "../transport/failure.ts";

const read = (name: string) =>
  readFileSync(new URL(`../../examples/guides/${name}.md`, import.meta.url), "utf8");
const guide = read("test-your-app");
const guides = guide + read("webhooks");
const folder = mkdtempSync(fileURLToPath(new URL("guide-", import.meta.url)));
afterAll(() => rmSync(folder, { recursive: true }));

function blocksOf(language: string): string[] {
  return [...guides.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );
}

/** Each code block as a module, in a folder where the package's names resolve to its source. */
const paths = new Map(
  ["ts", "typescript"].map((language) => [
    language,
    blocksOf(language).map((code, at) => {
      const path = join(folder, `${language}-${at}.ts`);
      writeFileSync(path, code);
      return path;
    }),
  ]),
);

// Importing them registers their tests here, each with its own server.
describe.each((paths.get("typescript") ?? []).map((path) => [basename(path), path]))(
  "the guides' tests for vitest: %s",
  async (_, path) => {
    await import(path);
  },
);

describe("the guides' tests for Jest", () => {
  const modules: Readonly<Record<string, unknown>> = {
    "audience-sdk": client,
    "audience-sdk/mock": mockModule,
  };
  for (const code of blocksOf("js"))
    runInNewContext(code, { require: (name: string) => modules[name], test: it, expect });
});

describe("the guides' tables", () => {
  const rows = guides.match(/^\| .+/gm)!.join("\n");
  /** The default of each variant: in one piece of code with its name, or in the next cell. */
  const told = new Map(
    [...rows.matchAll(/`(\w+): ([^`]+)`/g), ...rows.matchAll(/^\| `(webhook\w+)`[^|]*\| `?([^`| ]+)/gm)].map(
      ([, name, text]) => [name, text],
    ),
  );
  /** What an editor shows of each variant. */
  const shown = readFileSync(new URL("../../src/mock/variants.ts", import.meta.url), "utf8");
  const comments = new Map(
    [...shown.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+):/g)].map(([, text = "", name]) => [
      name,
      text,
    ]),
  );

  it.each(Object.entries(variantsOf({})))(
    "tell the variant %s and its default, %j, as its comment does",
    (name, byDefault) => {
      const text = inspect(byDefault, { numericSeparator: true }).replaceAll("'", '"').replaceAll("_", ",");
      const comment = comments
        .get(name)
        ?.replaceAll(/\n \* | {2,}\*? ?/g, " ")
        .replaceAll("`", "");

      expect(told.get(name)).toBe(text);
      expect(comment?.replaceAll(/\s+(\* )?/g, " ")).toContain(`Default ${text}`);
    },
  );

  it("name every kind of fault", () => {
    const { addFault } = mockModule.createMockService();
    // @ts-expect-error -- a caller from JavaScript has no compiler.
    const complaint = String(thrownBy(() => addFault({ kind: "explode" })));
    const kinds = complaint.split("one of ")[1]?.split(", ") ?? [];

    expect(kinds).toHaveLength(16);
    expect(kinds.filter((kind) => !guide.includes(`\`${kind}\``))).toEqual([]);
  });
});
