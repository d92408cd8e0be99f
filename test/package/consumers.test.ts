import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { BuildOptions } from "esbuild";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { publicSurface, valuesOf } from "../project/surface-report.ts";
import { bundle } from "./compile.ts";
import { loaders, programs, runNode, tool } from "./programs.ts";

const { consumer } = inject("installed");

// The platform tests cover the shared budget in Redis on each runtime.
const names = ["scenario", "failures", "import"];
const ways = loaders.flatMap((loader) => ["http", "process"].map((entryPoint) => ({ loader, entryPoint })));

describe.each(ways)(
  "The installed package, loaded by $loader, over $entryPoint",
  ({ loader, entryPoint }) => {
    let shown: { stdout: string; stderr: string };
    beforeAll(async () => void (shown = await runNode(consumer, loader, entryPoint, ...names)));

    it.each(names)("runs %s", (name) => {
      expect(shown.stderr).toBe("");
      const results: Record<string, unknown> = JSON.parse(shown.stdout);
      expect(results[name]).toEqual(programs[name]?.expected);
    });
  },
);

describe("The installed package runs", () => {
  it("in Jest, without any configuration", async () => {
    const { exitCode, stderr } = await runNode(consumer, tool("jest/bin/jest.js"), "--rootDir", consumer);

    expect(stderr).toContain("Tests:       1 passed, 1 total");
    expect(exitCode).toBe(0);
  });

  it.each(["import", "require"])(
    "beside the newest zod, whose schemas mix with ours, by %s",
    async (format) => {
      const { stdout, stderr } = await runNode(consumer, "mixing.mjs", format, "zod", "audience-sdk/schemas");
      const promises: Record<string, boolean> = JSON.parse(stdout);

      expect(stderr).toBe("");
      expect(new Set(Object.values(promises))).toEqual(new Set([true]));
    },
  );

  it.each(["esm", "cjs"] as const)("bundled into one file, as %s", async (format) => {
    const outfile = `bundle.${format === "esm" ? "mjs" : "cjs"}`;
    const contents = `import * as sdk from "audience-sdk";
      import * as mocking from "audience-sdk/mock";
      import * as schemas from "audience-sdk/schemas";
      import { programs } from "./programs.cjs";
      const entries = { sdk, mocking, schemas };
      programs.scenario.run(entries).then((result) => console.log(JSON.stringify(result)));`;
    const options: BuildOptions = { format, platform: "node", external: ["node:*", "ioredis"] };
    await writeFile(join(consumer, outfile), await bundle(contents, consumer, options));
    const { stdout, stderr } = await runNode(consumer, outfile);

    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(programs["scenario"]?.expected);
  });
});

describe("The installed package in both formats in one process", () => {
  let found: { shared: unknown; names: unknown };
  beforeAll(async () => {
    const { exitCode, stdout, stderr } = await runNode(consumer, "both.mjs", ...Object.keys(publicSurface));
    // The output is not checked: msw accesses the browser's storage, and some versions of Node warn of that.
    expect(exitCode, stderr).toBe(0);
    found = JSON.parse(stdout);
  });

  it("shares the limiter, and each recognises the errors of the other", () => {
    expect(found.shared).toEqual({
      areTwoCopies: true,
      knowsErrorOfTheOther: true,
      usedOfTheOther: [1, 1, 1],
    });
  });

  it("has every public name, at each entry", () => {
    const expected = Object.entries(publicSurface).map(([entry, declarations]) => [
      entry,
      [valuesOf(declarations), valuesOf(declarations)],
    ]);

    expect(found.names).toEqual(Object.fromEntries(expected));
  });
});

describe("The command of the installed package", () => {
  const command = join("node_modules", ".bin", "audience-mock");

  it("prints its usage", async () => {
    const { exitCode, stdout } = await runNode(consumer, command, "--help");

    expect(stdout).toContain(
      "audience-mock [--port N] [--host ADDRESS] [--allow-host NAME]... [--seed FILE]",
    );
    expect(exitCode).toBe(0);
  });

  it("serves the mock at the printed address with the printed key, until it gets a signal", async () => {
    const server = spawn(process.execPath, [command, "--port", "0"], { cwd: consumer });
    const ended = once(server, "exit");
    const printed = await textUntil(server.stdout, /http:\/\/127\.0\.0\.1:\d+/);
    const key = /X-API-Key.* (\S+)$/m.exec(printed)?.[1] ?? "";

    const response = await fetch(`${/http:\S+:\d+/.exec(printed)?.[0]}/api/v1/customer`, {
      headers: { "X-API-Key": key },
    });
    server.kill("SIGTERM");

    expect(response.status).toBe(200);
    expect(await ended).toEqual([0, null]);
  });
});

/** The output of a stream up to the chunk that matches the pattern. */
async function textUntil(stream: Readable, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const piece of stream.iterator({ destroyOnReturn: false })) {
    text += String(piece);
    if (pattern.test(text)) break;
  }
  return text;
}
