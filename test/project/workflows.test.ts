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
    for (const step of text.split(/^ +- (?=uses: actions\/checkout)/m).slice(1)) {
      expect(step).toMatch(/^.*\n +with:\n +persist-credentials: false$/m);
    }
  });

  it("may only read the repository; publishing alone gets an identity", () => {
    const granted = [...text.matchAll(/^ +([a-z-]+): (read|write)$/gm)].map(
      ([, scope, access]) => `${scope} ${access}`,
    );

    expect(granted).toEqual(name === "release.yml" ? ["contents read", "id-token write"] : ["contents read"]);
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

describe("A release", () => {
  const {
    prove = "",
    pack = "",
    publish = "",
  } = Object.fromEntries(
    release.split(/^ {2}(?=\w+:$)/m).map((job) => [job.slice(0, job.indexOf(":")), job]),
  );
  const commandsOf = (job: string) =>
    [...job.matchAll(/^ +(?:- )?run: (?!\|)(.*)$/gm)].map(([, line]) => line);

  it("begins with a tag that is the version of the package", () => {
    expect(release).toMatch(/on:\n {2}push:\n {4}tags: \["v\*"\]/);
    expect(commandsOf(pack)[0]).toMatch(/^test "\$GITHUB_REF_NAME" = "v\$\(node /);
  });

  it("is proven without an identity", () => {
    expect(commandsOf(prove)).toEqual([".ci/run"]);
    expect(prove + pack).not.toMatch(/permissions:|environment:/);
  });

  it("is packed elsewhere, where no script of a dependency has run", () => {
    expect(commandsOf(pack).slice(1)).toEqual([
      "npm ci --ignore-scripts",
      "npm run build",
      "mkdir packed && npm pack --ignore-scripts --pack-destination packed",
    ]);
    expect(pack).toMatch(/uses: actions\/upload-artifact.*\n +with:\n +name: package\n +path: packed\n/);
  });

  it("is published once both have succeeded: that file, with provenance, and with no other code at hand", () => {
    expect(publish).toContain("needs: [prove, pack]");
    expect(publish).toMatch(/uses: actions\/download-artifact.*\n +with:\n +name: package\n +path: packed\n/);
    expect(publish).not.toContain("actions/checkout");
    expect(commandsOf(publish)).toEqual(["npm publish --ignore-scripts --provenance ./packed/*.tgz"]);
  });
});

it("The release workflow names its own repository in package.json before it packs, as provenance requires", () => {
  const [, script = ""] =
    /- name: package\.json names the repository.*\n +run: \|\n((?: {10}.*\n)+) {6}- run: .*npm pack /.exec(
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
