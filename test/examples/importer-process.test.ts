import { EventEmitter } from "node:events";
import { join } from "node:path";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runProgram as programOf } from "../../examples/console/program.ts";
import { runExport } from "../../examples/export/export.ts";
import { runImporter } from "../../examples/importer/importer.ts";
import { runProbe } from "../../examples/probe/probe.ts";
import { csv, manyRows, run, runProgram, temporaryFolder } from "./importer-fixture.ts";
import { runHere } from "./run-program.ts";

describe("The importer as a program", () => {
  it("ends silently when its output is closed, as by `| head`", async () => {
    const { code, err } = await runProgram([await manyRows(2_000), "--dry-run"], ({ stdout }) =>
      stdout?.destroy(),
    );

    expect({ code, err }).toEqual({ code: 141, err: "" });
  });

  it.each([
    ["Ctrl-C", "SIGINT"],
    ["a supervisor's SIGTERM", "SIGTERM"],
  ] as const)("sends nothing where %s stops it during the reading", async (_who, signal) => {
    const path = await manyRows(30_000);

    const { code, out } = await runProgram([path, "--mock"], (child, text) => {
      if (!text.includes("Stopped")) child.kill(signal);
    });

    expect({ code, out }).toEqual({ code: 130, out: expect.stringContaining("Stopped. Nothing was sent.") });
  });

  it("takes a second Ctrl-C within a second for the first one, as the terminal and npm both signal", async () => {
    vi.useFakeTimers();
    const signals = new EventEmitter();
    for (const method of ["on", "once", "off"] as const)
      vi.spyOn(process, method).mockImplementation(signals[method].bind(signals) as never);
    onTestFinished(() => void (process.exitCode = undefined));
    const log: string[] = [];
    await programOf(async ({ signal }) => {
      signal.addEventListener("abort", () => log.push("stopped"));
      return await Promise.resolve(0);
    });

    for (const laterMs of [0, 999, 1]) {
      vi.advanceTimersByTime(laterMs);
      log.push(signals.emit("SIGINT") ? "handled" : "the default action");
    }

    expect(log).toEqual(["stopped", "handled", "handled", "the default action"]);
  });

  it("resumes after Ctrl-C with --resume, and sends no recorded row again", async () => {
    const mock = createMockService();
    const { clientOptions, close } = await mock.listen({ port: 0 });
    onTestFinished(close);
    vi.stubEnv("AUDIENCE_BASE_URL", clientOptions.baseUrl);
    vi.stubEnv("AUDIENCE_API_KEY", clientOptions.apiKey);
    const folder = await temporaryFolder();
    const rows = Array.from({ length: 40 }, (_, index) => `person-${index}@example.com,SUBSCRIBED`);
    const path = await csv(folder, "people.csv", "email,email_opt_in", ...rows);
    const args = [path, "--resume", join(folder, "import.ckpt")];

    let isStopped = false;
    const first = await runProgram(args, (child, out) => {
      if (!isStopped && out.includes("25 %")) isStopped = child.kill("SIGINT");
    });
    const before = mock.requests.length;
    const second = await run(args);

    expect(first).toMatchObject({
      code: 130,
      out: expect.stringContaining(`it continues from ${join(folder, "import.ckpt")}`),
    });
    expect(before).toBeLessThan(40);
    expect(second).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Imported \d+ of 40 rows in .*; \d+ were imported before/),
    });
    expect(mock.requests).toHaveLength(40);
  });
});

it.each([
  ["importer", runImporter, ["people.csv"]],
  ["export", runExport, ["audience.csv"]],
  ["probe", runProbe, []],
] as const)(
  "Without a service the %s names the variables, and no command that a clone has not built",
  async (_, program, args) => {
    vi.stubEnv("AUDIENCE_BASE_URL", undefined);

    const { code, err } = await runHere((given) => program({ args, ...given }));

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("(or AUDIENCE_BASE_URL)") });
    expect(err).not.toContain("audience-mock");
  },
);
