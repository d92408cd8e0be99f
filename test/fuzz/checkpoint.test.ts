import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

it("For any arguments, fileCheckpoint returns a checkpoint or throws a TypeError, and touches no file", async () => {
  await tryEntryPoint(
    { act: (path) => fileCheckpoint(path as string), valid: [["a.ckpt"]], allowedError: "a TypeError" },
    500,
  );
});

async function linesOf({ lines }: OpenCheckpoint): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function openFile(): Promise<{ path: string; open: OpenCheckpoint }> {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rows.ckpt");
  const open = await fileCheckpoint(path).open();
  // They are read first.
  expect(await linesOf(open)).toEqual([]);
  return { path, open };
}

it("For any arguments, an open checkpoint records the line or throws a TypeError, and the file stays readable", async () => {
  const { path, open } = await openFile();
  const recorded: string[] = [];
  const act = async (text: unknown, options: unknown) => {
    const before = statSync(path).size;
    // A line is JSON.
    const line = typeof text === "string" ? JSON.stringify(text) : text;
    try {
      await open.append(line as string, options as { flush: boolean });
    } catch (error) {
      expect(statSync(path).size).toBe(before);
      throw error;
    }
    recorded.push(String(text));
  };
  const valid = [["a row", "another row"], [{ flush: true }]];
  await tryEntryPoint({ act, argumentCount: 2, valid, allowedError: "a TypeError" }, 300);
  const actWithout = (text: unknown) => act(text, { flush: false });
  await tryEntryPoint({ act: actWithout, valid: [["a row"]], allowedError: "a TypeError" }, 300);

  await open.close();
  const again = await fileCheckpoint(path).open();
  const lines = await linesOf(again);
  await again.close();
  expect(recorded.length).toBeGreaterThan(10);
  expect(lines.map((line) => String(JSON.parse(line)))).toEqual(recorded);
});

it("For any lines, an open checkpoint replaces all by them, or throws and leaves the file as it is", async () => {
  const { path, open } = await openFile();
  await open.append('"the line so far"', { flush: false });
  let replaced = 0;
  const act = async (lines: unknown) => {
    // Four billion holes may take long.
    if (Array.isArray(lines) && lines.length > 1_100) return;
    const before = readFileSync(path, "utf8");
    try {
      await open.rewrite(lines as Iterable<string>);
      replaced += 1;
    } catch (error) {
      expect(readFileSync(path, "utf8")).toBe(before);
      expect(existsSync(`${path}.new`)).toBe(false);
      const isTheirs = error instanceof Error && error.message === hostileMessage;
      if (!isTheirs) throw error;
    }
  };
  await tryEntryPoint({ act, valid: [[['"a"', '"b"']]], allowedError: "a TypeError" }, 300);

  await open.append('"the last line"', { flush: true });
  await open.close();
  const again = await fileCheckpoint(path).open();
  const lines = await linesOf(again);
  await again.close();
  expect(replaced).toBeGreaterThan(3);
  expect(lines.at(-1)).toBe('"the last line"');
});
