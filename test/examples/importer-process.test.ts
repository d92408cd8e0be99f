import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./importer-fixture.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

async function manyRows(count: number): Promise<string> {
  const path = join(await temporaryFolder(), "people.csv");
  const lines = function* () {
    yield "email,first_name,last_name,phone,city,status,notes\n";
    for (let row = 0; row < count; row++)
      yield `person-${row}@example.com,First,Last,+4477${String(row).padStart(8, "0")},Leeds,subscribed,some text of row ${row}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  return path;
}

/** The importer as a process; `onOutput` receives its output so far. */
async function runProgram(
  args: string[],
  onOutput: (child: ReturnType<typeof spawn>, out: string) => void = () => undefined,
  flags: string[] = [],
) {
  const child = spawn(process.execPath, [...flags, "--import", "tsx", "examples/importer/main.ts", ...args], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    onOutput(child, out);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}

describe("The importer as a program", () => {
  it("reads 200,000 rows in a heap that is smaller than the rows, and prints its plan at once", async () => {
    const chunks: string[] = [];

    const { code, out } = await runProgram(
      [await manyRows(200_000), "--dry-run"],
      (_child, text) => void chunks.push(text),
      ["--max-old-space-size=96"],
    );

    expect(code).toBe(0);
    expect(out).toContain("200,000 of 200,000 rows can be imported");
    expect(chunks[0]).toMatch(/^Reading .*people\.csv\n$/);
  });

  it("ends silently when its output is closed, as by `| head`", async () => {
    const { code, err } = await runProgram([await manyRows(20_000), "--dry-run"], ({ stdout }) =>
      stdout?.destroy(),
    );

    expect({ code, err }).toEqual({ code: 141, err: "" });
  });

  it("sends nothing where Ctrl-C stops it during the reading", async () => {
    const path = await manyRows(50_000);

    const { code, out } = await runProgram([path, "--mock"], (child, text) => {
      if (!text.includes("Stopped")) child.kill("SIGINT");
    });

    expect({ code, out }).toEqual({ code: 130, out: expect.stringContaining("Stopped. Nothing was sent.") });
  });
});
