import { spawn } from "node:child_process";
import type * as FileSystem from "node:fs";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { failureOf } from "../transport/failure.ts";
import { createFixture, key, rows } from "./fixture.ts";

// The file system calls: a test can log, delay or fail each of them.
vi.mock("node:fs", async (original) => {
  const real = await original<typeof FileSystem>();
  const watched = [
    "appendFileSync",
    "closeSync",
    "fchmodSync",
    "fdatasyncSync",
    "fstatSync",
    "fsyncSync",
    "openSync",
    "renameSync",
    "statSync",
    "writeSync",
  ] as const;
  return {
    ...real,
    ...Object.fromEntries(watched.map((name) => [name, vi.fn<() => unknown>(real[name] as never)])),
  };
});
const real = await vi.importActual<typeof FileSystem>("node:fs");

let folder: string;
let path: string;
let lock: string;
beforeEach(() => {
  vi.resetAllMocks();
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  lock = `${path}.lock`;
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** The file system calls from now on, in order. */
function logged(): string[] {
  const log: string[] = [];
  vi.mocked(openSync).mockImplementation((file, flags, mode) => {
    const handle = real.openSync(file, flags, mode);
    log.push(`open ${handle}`);
    return handle;
  });
  vi.mocked(closeSync).mockImplementation((handle) => {
    log.push(`close ${handle}`);
    real.closeSync(handle);
  });
  vi.mocked(appendFileSync).mockImplementation((handle, text) => {
    log.push("write");
    real.appendFileSync(handle, text);
  });
  for (const flush of ["fdatasyncSync", "fsyncSync"] as const)
    vi.mocked({ fdatasyncSync, fsyncSync }[flush]).mockImplementation((handle) => {
      log.push("to the disk");
      real[flush](handle);
    });
  return log;
}

/** Opens the file, and reads its entries. */
async function openAndRead(): Promise<{ open: OpenCheckpoint; entries: string[] }> {
  const open = await fileCheckpoint(path).open();
  const entries: string[] = [];
  for await (const entry of open.entries) entries.push(entry.join(" "));
  return { open, entries };
}

const kept = { flush: false };

it("A line that asks for a flush is on the disk when put() resolves; any other is in the kernel's buffers", async () => {
  const { open } = await openAndRead();
  const log = logged();

  for (const flush of [true, false, false, true]) await open.put("a", "1", { flush });

  // It also looks at its lock.
  const ofLines = log.filter((call) => !/^(open|close) /.test(call));
  expect(ofLines).toEqual(["write", "to the disk", "write", "write", "write", "to the disk"]);
  await open.close();
});

/** A file that is rewritten when it is opened: all but its last line are out of date. */
async function longFile(): Promise<Buffer> {
  const { open } = await openAndRead();
  for (let line = 0; line < 9; line++) await open.put("a", String(line), kept);
  await open.close();
  return real.readFileSync(path);
}

async function entriesOf(): Promise<string[]> {
  const { open, entries } = await openAndRead();
  await open.close();
  return entries;
}

it("A rewritten file is flushed before it replaces the old file, and takes further lines", async () => {
  await longFile();
  const log = logged();
  vi.mocked(renameSync).mockImplementationOnce((from, to) => {
    log.push("rename");
    real.renameSync(from, to);
  });
  const { open } = await openAndRead();

  await open.put("b", "1", kept);
  await open.close();

  expect(log.indexOf("to the disk")).toBeGreaterThanOrEqual(0);
  expect(log.indexOf("to the disk")).toBeLessThan(log.indexOf("rename"));
  expect(await entriesOf()).toEqual(["a 8", "b 1"]);
});

it.each([
  ["written", appendFileSync],
  ["flushed", fsyncSync],
  ["renamed", renameSync],
] as const)(
  "Where the new file cannot be %s the old one stays as it is and is used, and the new one takes no space",
  async (...each) => {
    const [, step] = each;
    const before = await longFile();
    vi.mocked<(...given: never[]) => unknown>(step).mockImplementationOnce(() => {
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    });

    expect(await entriesOf()).toEqual(["a 8"]);

    expect(real.readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  },
);

it("A file that cannot be emptied by clear() stays as it is, and the error says so", async () => {
  await longFile();
  const { open } = await openAndRead();
  vi.mocked(renameSync).mockImplementationOnce(() => expect.fail("EPERM: operation not permitted"));

  await expect(open.clear()).rejects.toThrow("EPERM");

  await open.close();
  expect(await entriesOf()).toEqual(["a 8"]);
});

/** The system shows files as another user's: these, or all. */
function showAsAnothers(isShown: (file: unknown) => boolean): void {
  const shown = (file: unknown, stats: Stats | undefined) =>
    stats && isShown(file) ? Object.assign(stats, { uid: stats.uid + 1 }) : stats;
  vi.mocked(statSync).mockImplementation(((file: string, options: object) =>
    shown(file, real.statSync(file, options))) as typeof statSync);
  vi.mocked(fstatSync).mockImplementation(((handle: number) =>
    shown(handle, real.fstatSync(handle))) as typeof fstatSync);
}

it("A file that belongs to another user is refused, and untouched", async () => {
  const before = await longFile();
  showAsAnothers((file) => file === path);

  await expect(fileCheckpoint(path).open()).rejects.toThrow(
    new ConfigurationError(
      `The checkpoint cannot be used: ${path} belongs to another user. It is left unchanged. Name a file of your own.`,
    ),
  );

  expect(real.readFileSync(path)).toEqual(before);
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("A share that shows one owner of all files, and refuses modes, is used as it is", async () => {
  await longFile();
  showAsAnothers(() => true);
  vi.mocked(fchmodSync).mockImplementation(() => {
    throw Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" });
  });

  expect(await entriesOf()).toEqual(["a 8"]);

  expect(vi.mocked(fchmodSync)).toHaveBeenCalled();
});

it.each([
  ["write", appendFileSync],
  ["flush", fdatasyncSync],
] as const)(
  "A line that the disk refuses to %s is not recorded, and its error has the system's code, and says what to do",
  async (...each) => {
    const [, step] = each;
    const { open } = await openAndRead();
    await open.put("a", "1", kept);
    const cause = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    vi.mocked(step).mockImplementationOnce((handle) => {
      // A full disk takes a part of the line.
      if (step === appendFileSync) real.appendFileSync(handle, "12345678 b");
      throw cause;
    });

    await expect(open.put("b", "more than the next", { flush: true })).rejects.toThrow(
      expect.objectContaining({
        message:
          `The checkpoint ${path} cannot be written (ENOSPC: no space left on device); the run stops, so that no row goes unrecorded. ` +
          "Mend the cause, such as a full disk, and run it again: it continues from what the file records.",
        code: "ENOSPC",
        cause,
      }),
    );
    await open.close();

    expect(await entriesOf()).toEqual(["a 1"]);
  },
);

it("Each open handle is closed once, and the lock is released even where closing the file fails", async () => {
  const log = logged();
  await (await fileCheckpoint(path).open()).close();
  const of = (call: string) =>
    log.flatMap((line) => (line.startsWith(call) ? [line.slice(call.length)] : []));
  expect(of("open ").length).toBeGreaterThan(0);
  expect(of("close ").sort()).toEqual(of("open ").sort());
  const open = await fileCheckpoint(path).open();
  const failure = new Error("EIO: i/o error");
  vi.mocked(closeSync).mockImplementationOnce((handle) => {
    real.closeSync(handle);
    throw failure;
  });

  await expect(open.close()).rejects.toBe(failure);
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

/** Takes over the checkpoint of a run that stands still, as in a suspended machine, and so cannot renew its lock. */
async function takeOver() {
  vi.mocked(writeSync).mockImplementation(() => expect.fail("EIO: i/o error"));
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const opening = fileCheckpoint(path).open();
  await vi.advanceTimersByTimeAsync(30_000);
  vi.useRealTimers();
  return await opening;
}

describe("A run whose checkpoint is its own no longer", () => {
  const replaced = "the file was deleted, moved, replaced";
  const takenOver = "its lock was taken over, deleted or replaced";
  /** Another program puts this in place of the lock. */
  const replaceLock = (put: () => void) => () => {
    rmSync(lock);
    put();
    return { close: async () => rmSync(lock, { recursive: true }) };
  };
  it.each<[string, () => Promise<OpenCheckpoint> | Pick<OpenCheckpoint, "close"> | void, reason: string]>([
    ["its lock is taken over", takeOver, takenOver],
    ["its lock is a folder now", replaceLock(() => mkdirSync(lock)), takenOver],
    ["its lock is a link now", replaceLock(() => symlinkSync(path, lock)), takenOver],
    ["its file is deleted", () => rmSync(path), replaced],
    ["its file is moved", () => renameSync(path, `${path}.old`), replaced],
    [
      "its file is replaced by a copy",
      () => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
      replaced,
    ],
    ["its file is emptied", () => truncateSync(path), replaced],
    ["its file is given to another user", () => showAsAnothers((file) => file === path), replaced],
    ["its file is cut off by one byte", () => truncateSync(path, statSync(path).size - 1), replaced],
  ])("stops before it sends or writes anything more: %s", async (_, lose, reason) => {
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(rows(3), upsert, { key, checkpoint: fileCheckpoint(path), concurrency: 1 });
    const contents = () =>
      readdirSync(folder).flatMap((name) =>
        name.endsWith(".lock") ? [] : [[name, readFileSync(join(folder, name), "latin1")]],
      );
    const others: (Pick<OpenCheckpoint, "close"> | void)[] = [];
    let left: unknown;

    const error = await failureOf(
      (async () => {
        for await (const _result of run) {
          others.push(await lose());
          left = contents();
        }
      })(),
    );

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      outcome: "unknown",
      message: expect.stringMatching(
        new RegExp(
          `^The run no longer has its checkpoint ${path}: ${reason}.*. It stops before it writes. Restore the file if it is ` +
            "missing, and run this again: it continues from what the file records.$",
        ),
      ),
    });
    expect(mock.requests).toHaveLength(1);
    expect(contents()).toEqual(left);
    // The end of the run does not release the lock of another one.
    const [other] = others;
    expect(existsSync(lock)).toBe(other !== undefined);
    await other?.close();
    expect(existsSync(lock)).toBe(false);
  });

  it("does not send a row again that it had sent before", async () => {
    let other: OpenCheckpoint | undefined;
    const { mock, audience, upsert } = createFixture({ faults: [{ kind: "429", times: 1 }] });
    const taken = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      other = await takeOver();
      return response;
    };
    const client = audience.withOptions({ fetch: taken });
    const run = client.bulk(rows(1), upsert, { key, checkpoint: fileCheckpoint(path) });

    expect(await failureOf(run.summary())).toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("its lock was taken over") as string,
    });
    expect(mock.requests.map(({ status }) => status)).toEqual([429]);
    await other!.close();
  });

  it("drops no line that the other one is writing, and does not empty the file", async () => {
    await longFile();
    const { open: other } = await openAndRead();
    await other.close();
    appendFileSync(path, "1234");
    const before = real.readFileSync(path);
    const { open } = await openAndRead();
    rmSync(`${path}.lock`);

    for (const write of [open.put("c", "1", kept), open.clear()])
      await expect(write).rejects.toThrow("its lock was taken over, deleted or replaced");

    expect(real.readFileSync(path)).toEqual(before);
    await open.close();
  });
});

it("A lock is held and released also where timers are numbers", async () => {
  vi.spyOn(globalThis, "setInterval").mockReturnValue(5 as never);

  const { open } = await openAndRead();
  await open.put("a", "1", kept);
  await open.close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

/** The lock of another process, which has renewed it so many times. */
const otherLock = (renewals: number) =>
  `00000000-0000-4000-8000-000000000000 ${String(renewals).padStart(12, "0")}\n`;

/** Opens the checkpoint under fake time; `isSettled` tells whether that has ended. */
function openUnderFakeTime() {
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
    const state = openUnderFakeTime();

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
    const state = openUnderFakeTime();
    await vi.advanceTimersByTimeAsync(27_000);
    expect(state.isSettled).toBe(false);

    writeFileSync(lock, otherLock(8));
    await Promise.all([
      expect(state.opened).rejects.toThrow(new ConfigurationError(inUse())),
      vi.advanceTimersByTimeAsync(250),
    ]);

    expect(readFileSync(lock, "utf8")).toBe(otherLock(8));
  });

  it("a lock is renewed every second, and stays as long as it is", async () => {
    const { opened } = openUnderFakeTime();
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

  it("of two that take over at once the later one has it", async () => {
    writeFileSync(lock, otherLock(7));
    const state = openUnderFakeTime();
    await vi.advanceTimersByTimeAsync(27_500);
    expect(readFileSync(lock, "utf8")).not.toBe(otherLock(7));

    // The other one has removed the lock that this one had just created.
    writeFileSync(lock, `1${otherLock(0)}`);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.isSettled).toBe(false);
    writeFileSync(lock, `1${otherLock(1)}`);

    await Promise.all([
      expect(state.opened).rejects.toThrow(new ConfigurationError(inUse())),
      vi.advanceTimersByTimeAsync(250),
    ]);
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

it("With the lock a run removes the temporary files that a killed one has left, and no others", async () => {
  const others = ["import.ckpt.old.tmp", "other.ckpt.00000000-0000-4000-8000-000000000000.tmp"];
  for (const name of [...others, "import.ckpt.00000000-0000-4000-8000-000000000000.tmp"])
    writeFileSync(join(folder, name), "a part");

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder).toSorted()).toEqual(["import.ckpt", ...others].toSorted());
});

it("A file that cannot be opened any more once its lock is acquired leaves no lock behind", async () => {
  vi.mocked(openSync).mockImplementation((file, flags, mode) => {
    if (file === path && existsSync(lock))
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "open" });
    return real.openSync(file, flags, mode);
  });

  await expect(fileCheckpoint(path).open()).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringContaining("cannot be read or written (EIO: i/o error)") as string,
    cause: { code: "EIO" },
  });

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
