import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "./source-files.ts";

const folder = join(repository, ".github/workflows");
const workflows = readdirSync(folder).map((name): [string, string] => [
  name,
  readFileSync(join(folder, name), "utf8"),
]);

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
  const { publishConfig } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  const release = new Map(workflows).get("release.yml") ?? "";

  expect(publishConfig).toMatchObject({ provenance: true });
  expect(release).toMatch(/on:\n {2}push:\n {4}tags: \["v\*"\]/);
  expect(release.indexOf('test "$GITHUB_REF_NAME"')).toBeLessThan(release.indexOf("npm publish"));
});
