import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { bundleProgram } from "../bundle-program.ts";

let folder: string;
let path: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  lock = `${path}.lock`;
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** The error that opening rejects with, as a string: undefined would match any error. */
const refusal = async () =>
  String(
    await fileCheckpoint(path)
      .open()
      .catch((error: unknown) => error),
  );

/** The lock of another process, which has renewed it so many times. */
const otherLock = (renewals: number) =>
  `00000000-0000-4000-8000-000000000000 ${String(renewals).padStart(12, "0")}\n`;

/** Opens the checkpoint under fake time; `isSettled` tells whether that has ended. */
function opening() {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const state = { isSettled: false, opened: fileCheckpoint(path).open() };
  const settle = () => void (state.isSettled = true);
  state.opened.then(settle, settle);
  return state;
}

const inUse = () =>
  `The checkpoint ${path} is in use: another process renews its lock ${lock}. One at a time: end that process or wait ` +
  "until it has ended, and run this again.";

describe("One run at a time", () => {
  it("a second run is refused, and can open after the first", async () => {
    const first = await fileCheckpoint(path).open();

    expect(await refusal()).toBe(`ConfigurationError: ${inUse()}`);
    await first.close();

    await (await fileCheckpoint(path).open()).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("a run waits for one that ends within a moment", async () => {
    const first = await fileCheckpoint(path).open();
    const second = fileCheckpoint(path).open();
    await first.close();

    await (await second).close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["of a killed process", otherLock(7)],
    ["that a full disk has left empty", ""],
    ["of any other content", "x"],
  ])("a lock %s is taken over once it was not renewed for 27.5 seconds", async (_, content) => {
    writeFileSync(lock, content);
    const state = opening();

    await vi.advanceTimersByTimeAsync(27_500 - 1);
    expect(state.isSettled).toBe(false);
    expect(readFileSync(lock, "utf8")).toBe(content);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(state.isSettled).toBe(true);
    expect(readFileSync(lock, "utf8")).not.toBe(content);
    await (await state.opened).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("a lock that is renewed at any time within them is respected", async () => {
    writeFileSync(lock, otherLock(7));
    const state = opening();
    await vi.advanceTimersByTimeAsync(27_000);
    expect(state.isSettled).toBe(false);

    writeFileSync(lock, otherLock(8));
    await Promise.all([
      expect(state.opened).rejects.toThrow(new ConfigurationError(inUse())),
      vi.advanceTimersByTimeAsync(250),
    ]);

    expect(readFileSync(lock, "utf8")).toBe(otherLock(8));
  });

  it("a lock that its run releases meanwhile is not waited for", async () => {
    writeFileSync(lock, otherLock(7));
    const { opened } = opening();
    await vi.advanceTimersByTimeAsync(5_000);

    rmSync(lock);
    await vi.advanceTimersByTimeAsync(250);

    await (await opened).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("a lock is renewed every second, and stays as long as it is", async () => {
    const { opened } = opening();
    await vi.advanceTimersByTimeAsync(0);
    const open = await opened;
    const contents = [readFileSync(lock, "utf8")];
    for (let second = 0; second < 3; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      contents.push(readFileSync(lock, "utf8"));
    }

    expect(contents.map((content) => Number(content.split(" ")[1]))).toEqual([0, 1, 2, 3]);
    expect(new Set(contents.map((content) => content.length)).size).toBe(1);
    await open.close();
    expect(existsSync(lock)).toBe(false);
  });

  it("of many that wait for a lock that was left behind, one takes it over", async () => {
    writeFileSync(lock, otherLock(7));
    opening();
    const others = Array.from({ length: 3 }, () => fileCheckpoint(path).open());
    const ends = Promise.allSettled(others);

    await vi.advanceTimersByTimeAsync(30_000);

    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  it("a deleted lock ends its run before the next line, and does not make its end fail", async () => {
    const open = await fileCheckpoint(path).open();
    for await (const _ of open.entries) continue;
    rmSync(lock);

    await expect(open.put("a", "1", { flush: false })).rejects.toThrow("its lock was taken over by another");
    await open.close();
  });

  it("several processes, each of which is killed in its lock, are inside one after the other", async () => {
    const program = join(folder, "child.mjs");
    const diary = join(folder, "diary.txt");
    await bundleProgram("test/bulk/killed-import/locking-child.ts", program);
    const [processes, times] = [3, 4];
    const ends = Array.from({ length: processes }, () => {
      const child = spawn(process.execPath, [program, path, diary, String(times)], { stdio: "inherit" });
      return new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
    });

    expect(await Promise.all(ends)).toEqual(Array.from({ length: processes }, () => "SIGKILL"));

    const lines = readFileSync(diary, "utf8").trim().split("\n");
    expect(lines).toHaveLength(2 * processes * times);
    const pairs = lines.flatMap((line, at) => (at % 2 === 0 ? [[line, lines[at + 1]]] : []));
    for (const [first, second] of pairs) expect(second).toBe(first?.replace(" in", " out"));
  });
});

it.each([
  ["a link", () => symlinkSync(join(folder, "victim"), lock), "is a link, and no regular file"],
  ["a folder", () => mkdirSync(lock), "is a folder, and no regular file"],
])("What stands in place of the lock and is %s is refused, and untouched", async (_, put, reason) => {
  writeFileSync(join(folder, "victim"), "theirs");
  put();

  await expect(fileCheckpoint(path).open()).rejects.toThrow(
    new ConfigurationError(
      `The checkpoint cannot be used: ${lock} ${reason}. It is left unchanged. Name a file of your own.`,
    ),
  );

  expect(readFileSync(join(folder, "victim"), "utf8")).toBe("theirs");
});

it("With the lock a run removes the temporary files that a killed one has left, and no others", async () => {
  const others = ["import.ckpt.old.tmp", "other.ckpt.00000000-0000-4000-8000-000000000000.tmp"];
  for (const name of [...others, "import.ckpt.00000000-0000-4000-8000-000000000000.tmp"])
    writeFileSync(join(folder, name), "a part");

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder).toSorted()).toEqual(["import.ckpt", ...others].toSorted());
});

it("A folder that goes while a checkpoint opens leaves no lock behind", async () => {
  const gone = fileCheckpoint(path).open();
  rmSync(folder, { recursive: true });
  await expect(gone).rejects.toThrow("its folder does not exist");
  mkdirSync(folder);

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
