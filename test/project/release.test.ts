import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { repository } from "./source-files.ts";

const workflow = readFileSync(join(repository, ".github/workflows/release.yml"), "utf8");

it("The release workflow names its own repository in package.json just before it publishes, as provenance requires", () => {
  const [, script = ""] =
    /- name: package\.json names the repository.*\n +run: \|\n((?: {10}.*\n)+) {6}- run: npm publish\n$/.exec(
      workflow,
    ) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyFileSync(join(repository, "package.json"), join(folder, "package.json"));

  const runner = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "acme/audience-sdk" };
  execFileSync("bash", ["-e", "-c", script], { cwd: folder, env: { ...process.env, ...runner } });

  expect(manifest.publishConfig.provenance).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toEqual({
    ...manifest,
    repository: { type: "git", url: "git+https://github.com/acme/audience-sdk.git" },
    homepage: "https://github.com/acme/audience-sdk#readme",
    bugs: { url: "https://github.com/acme/audience-sdk/issues" },
  });
});
