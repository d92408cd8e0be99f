import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./importer-fixture.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** A file with that many rows. */
export async function manyRows(count: number): Promise<string> {
  const path = join(await temporaryFolder(), "people.csv");
  const lines = function* () {
    yield "email,first_name,last_name,phone,city,email_opt_in,notes\n";
    for (let row = 0; row < count; row++)
      yield `person-${row}@example.com,First,Last,+4477${String(row).padStart(8, "0")},Leeds,SUBSCRIBED,some text of row ${row}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  return path;
}

/** The importer as a process; `onOutput` receives its output so far. */
export async function runProgram(
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
