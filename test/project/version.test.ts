import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { packageVersion } from "../../src/open-client.ts";

it("The version in requests is the package's version", () => {
  expect(packageVersion).toBe(manifest.version);
});
