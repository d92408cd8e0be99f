import { describe, expect, inject, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { compile, ownCompiler, projects } from "../package/compile.ts";
import { runProgram } from "../package/run-program.ts";

/** A user's test set-up. msw's own declarations need the types of the web. */
const program = `
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";

export const server = setupServer(...mswHandlers(createMockService()), http.get("https://other.test", () => HttpResponse.text("")));
`;
// msw 3 consists of ES modules, which CommonJS can load under nodenext, and not under node16.
const webProjects = projects.filter(
  ({ resolver, runtime }) => resolver === "nodenext" && runtime === "the web's own types",
);

describe.each(inject("withMsw"))("Beside msw $version", ({ version, folder }) => {
  it.each(["import", "require"])("a client is served by the mock's handlers, by %s", async (format) => {
    // msw 3 needs Node 22.
    const node = version.startsWith("^3") ? ["--package=node@22"] : [];
    const run = ["exec", "--yes", ...node, "--", "node", "msw.mjs", format];
    const { stdout, stderr } = await runProgram("npm", run, { folder });

    expect(stdout, stderr).toBe('{"email":"ada@example.com","lists":1,"outcome":"unknown","contacts":2}\n');
  });

  it.each(webProjects)("a program with its types compiles under $resolver", async (project) => {
    const options = { ...project.options, skipLibCheck: true };
    const { exitCode, stdout } = await compile(ownCompiler, { ...project, options }, folder, program);

    expect(exitCode, stdout).toBe(0);
  });
});

it("The tested versions of msw are the oldest of the package's range and the newest of each major", () => {
  const [oldest, ...newest] = inject("withMsw").map(({ version }) => version);

  expect(`^${oldest}`).toBe(newest[0]);
  expect(manifest.peerDependencies).toEqual({ msw: newest.join(" || ") });
});
