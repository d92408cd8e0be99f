import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { publicSurface } from "../project/public-surface.ts";
import { loaders, programs } from "./copy-programs.ts";
import { installedPackage } from "./installed-package.ts";
import { runNode, tool } from "./run-program.ts";

const { consumer } = await installedPackage();

// The platform tests cover the shared budget in Redis on each runtime.
const cases = ["scenario", "failures", "import"].flatMap((program) =>
  loaders.flatMap((loader) => ["http", "process"].map((entryPoint) => ({ program, loader, entryPoint }))),
);

describe("The installed package runs", () => {
  it.each(cases)("$program, over $entryPoint, loaded by $loader", async ({ program, entryPoint, loader }) => {
    const { stdout, stderr } = await runNode(consumer, loader, program, entryPoint);

    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(programs[program]?.expected);
  });

  it("with every public name, at each entry, in both formats", async () => {
    const { exitCode, stdout, stderr } = await runNode(consumer, "names.mjs", ...Object.keys(publicSurface));
    const expectedNames = Object.entries(publicSurface).map(([entry, { values }]) => [
      entry,
      [values, values],
    ]);

    // The output is not checked: msw accesses the browser's storage, and some versions of Node warn of that.
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(expectedNames));
  });

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

  it("in both formats in one process, which share the limiter and recognise each other's errors", async () => {
    const { stdout, stderr } = await runNode(consumer, "both.mjs");

    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      areTwoCopies: true,
      knowsErrorOfTheOther: true,
      usedOfTheOther: [1, 1, 1],
    });
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

  it("refuses an unknown argument", async () => {
    const { exitCode, stderr } = await runNode(consumer, command, "--prot", "1");

    expect(stderr).toContain("--prot");
    expect(exitCode).toBe(1);
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
