import { describe, expect, it } from "vitest";
import { manyRows, runProgram } from "./importer-program.ts";

describe("The importer as a program", () => {
  it("ends silently when its output is closed, as by `| head`", async () => {
    const { code, err } = await runProgram([await manyRows(20_000), "--dry-run"], ({ stdout }) =>
      stdout?.destroy(),
    );

    expect({ code, err }).toEqual({ code: 141, err: "" });
  });

  it.each([
    ["Ctrl-C", "SIGINT"],
    ["a supervisor's SIGTERM", "SIGTERM"],
  ] as const)("sends nothing where %s stops it during the reading", async (_who, signal) => {
    const path = await manyRows(50_000);

    const { code, out } = await runProgram([path, "--mock"], (child, text) => {
      if (!text.includes("Stopped")) child.kill(signal);
    });

    expect({ code, out }).toEqual({ code: 130, out: expect.stringContaining("Stopped. Nothing was sent.") });
  });
});
