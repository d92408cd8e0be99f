import { expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { packageVersion } from "../../src/transport/version.ts";

it("The version that requests name is the package's", () => {
  expect(packageVersion).toBe(manifest.version);
});
