import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { core } from "zod";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

it("These tests run on the oldest zod that the package allows", () => {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { dependencies } = JSON.parse(manifest) as Manifest; // our own file, as npm wants it
  const { major, minor, patch } = core.version;

  expect(dependencies["zod"]).toBe(`^${major}.${minor}.${patch}`);
});
