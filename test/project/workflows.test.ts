import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { repository } from "./source-files.ts";

const folder = join(repository, ".github/workflows");
const workflows = readdirSync(folder).map((name): [string, string] => [
  name,
  readFileSync(join(folder, name), "utf8"),
]);

const release = new Map(workflows).get("release.yml") ?? "";

describe.each(workflows)("The workflow %s", (name, text) => {
  it("has no secret that a step could leak", () => {
    expect(text).not.toMatch(/\bsecrets\b|NODE_AUTH_TOKEN|NPM_TOKEN/);
    expect(text).toContain("persist-credentials: false");
  });

  it("may only read the repository; publishing alone gets an identity", () => {
    const granted = [...text.matchAll(/^ +([a-z-]+): (read|write)$/gm)].map(
      ([, scope, access]) => `${scope} ${access}`,
    );

    const expected =
      name === "release.yml" ? ["contents read", "contents read", "id-token write"] : ["contents read"];
    expect(granted).toEqual(expected);
    expect(text).not.toContain("pull_request_target");
  });

  it("names each action by its commit", () => {
    const actions = [...text.matchAll(/uses: (.*)/g)].map(([, action = ""]) => action);

    expect(actions).not.toEqual([]);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/);
  });

  it("puts no text of a pull request or branch into a command", () => {
    expect(text.replace("${{ github.workflow }}-${{ github.ref }}", "")).not.toContain("${{");
  });
});

it("A release is published with provenance, from a tag that is the package's version", () => {
  expect(manifest.publishConfig.provenance).toBe(true);
  expect(release).toMatch(/on:\n {2}push:\n {4}tags: \["v\*"\]/);
  expect(release.indexOf('test "$GITHUB_REF_NAME"')).toBeLessThan(release.indexOf("npm publish"));
});

it("The release workflow names its own repository in package.json just before it publishes, as provenance requires", () => {
  const [, script = ""] =
    /- name: package\.json names the repository.*\n +run: \|\n((?: {10}.*\n)+) {6}- run: npm publish\n$/.exec(
      release,
    ) ?? [];
  const copy = mkdtempSync(join(tmpdir(), "release-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  copyFileSync(join(repository, "package.json"), join(copy, "package.json"));

  const runner = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "acme/audience-sdk" };
  execFileSync("bash", ["-e", "-c", script], { cwd: copy, env: { ...process.env, ...runner } });

  expect(JSON.parse(readFileSync(join(copy, "package.json"), "utf8"))).toEqual({
    ...manifest,
    repository: { type: "git", url: "git+https://github.com/acme/audience-sdk.git" },
    homepage: "https://github.com/acme/audience-sdk#readme",
    bugs: { url: "https://github.com/acme/audience-sdk/issues" },
  });
});
