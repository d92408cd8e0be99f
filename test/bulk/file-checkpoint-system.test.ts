import type * as FileSystem from "node:fs";
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import type * as System from "node:os";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";

// The system's own calls, each of which a test can log, slow down or let fail.
vi.mock("node:fs", async (original) => {
  const real = await original<typeof FileSystem>();
  const watched = [
    "closeSync",
    "fdatasyncSync",
    "openSync",
    "readFileSync",
    "readSync",
    "writeSync",
  ] as const;
  return {
    ...real,
    ...Object.fromEntries(watched.map((name) => [name, vi.fn<() => unknown>(real[name] as never)])),
  };
});
vi.mock("node:os", async (original) => {
  const real = await original<typeof System>();
  return { ...real, hostname: vi.fn(real.hostname) };
});
const real = await vi.importActual<typeof FileSystem>("node:fs");

let folder: string;
let path: string;
beforeEach(() => {
  vi.resetAllMocks();
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** What is asked of the system from now on, in order. */
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
  vi.mocked(writeSync).mockImplementation(((handle: number, ...rest: [never, never]) => {
    log.push("write");
    return real.writeSync(handle, ...rest);
  }) as typeof writeSync);
  vi.mocked(fdatasyncSync).mockImplementation((handle) => {
    log.push("to the disk");
    real.fdatasyncSync(handle);
  });
  return log;
}

/** From now on no more than so many bytes are read at once, and none once `isCut` says so. */
function readAtMost(bytes: number, isCut: (read: number) => boolean = () => false): void {
  const read = (handle: number, into: Buffer, at: number, length: number, from: number) =>
    isCut(at) ? 0 : real.readSync(handle, into, at, Math.min(length, bytes), from);
  vi.mocked(readSync).mockImplementation(read as typeof readSync);
}

function writeAtMost(bytes: number): void {
  const write = (handle: number, text: Buffer, at: number, length: number, to: number) =>
    real.writeSync(handle, text, at, Math.min(length, bytes), to);
  vi.mocked(writeSync).mockImplementation(write as typeof writeSync);
}

it("What is in doubt is on the disk when it is on record; what has succeeded is in the kernel's hands", async () => {
  const open = await fileCheckpoint(path).open();
  const log = logged();

  await open.record("a", "in-doubt");
  await open.record("a", "succeeded");
  await open.record("b", undefined);

  expect(log).toEqual(["write", "to the disk", "write", "write"]);
  await open.close();
});

it("Each handle that is opened is closed, once", async () => {
  const log = logged();

  await (await fileCheckpoint(path).open()).close();

  const opened = log.filter((line) => line.startsWith("open")).map((line) => line.slice(5));
  const closed = log.filter((line) => line.startsWith("close")).map((line) => line.slice(6));
  expect(opened.length).toBeGreaterThan(0);
  expect(closed.sort()).toEqual(opened.sort());
});

it("A system that reads and writes but a few bytes at a time is asked until all is done", async () => {
  readAtMost(5);
  writeAtMost(7);
  const first = await fileCheckpoint(path).open();
  await first.record("a", "succeeded");
  await first.record("b", "in-doubt");
  await first.close();

  const second = await fileCheckpoint(path).open();

  expect(["a", "b", "c"].map((key) => second.stateOf(key))).toEqual(["succeeded", "in-doubt", undefined]);
  expect(second.id).toBe(first.id);
  await second.close();
  expect(real.statSync(path).size).toBe(59 + 2 * 18);
});

it("A file that somebody cuts off while it is read is damaged, and is given back", async () => {
  await (await fileCheckpoint(path).open()).close();
  readAtMost(20, (read) => read === 20);

  await expect(fileCheckpoint(path).open()).rejects.toMatchObject({
    message: `${path} is damaged at byte 20. Restore it, or begin anew with another file.`,
  });
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it.each([
  ["write", writeSync, "succeeded"],
  ["flush", fdatasyncSync, "in-doubt"],
] as const)(
  "A row that the disk refuses to %s is not on record, and the run is told why it stops",
  async (...each) => {
    const [, step, state] = each;
    const open = await fileCheckpoint(path).open();
    const cause = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    vi.mocked(step).mockImplementationOnce(() => {
      throw cause;
    });

    expect(() => open.record("a", state)).toThrow(
      expect.objectContaining({
        message: `The checkpoint ${path} cannot be written (ENOSPC: no space left on device); the run stops, so that it does not lose track.`,
        cause,
      }),
    );
    expect(open.stateOf("a")).toBeUndefined();
    await open.record("b", "succeeded");
    await open.close();

    const next = await fileCheckpoint(path).open();
    expect([next.stateOf("a"), next.stateOf("b")]).toEqual([undefined, "succeeded"]);
    await next.close();
  },
);

it("The lock is given back even where closing the file fails", async () => {
  const open = await fileCheckpoint(path).open();
  const failure = new Error("EIO: i/o error");
  vi.mocked(closeSync).mockImplementationOnce((handle) => {
    real.closeSync(handle);
    throw failure;
  });

  expect(() => open.close()).toThrow(failure);
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("A system that does not tell when a process has started goes by its id alone", async () => {
  vi.mocked(readFileSync).mockImplementation(() => {
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  });

  const open = await fileCheckpoint(path).open();

  expect(readdirSync(folder)).toContainEqual(
    expect.stringMatching(new RegExp(`^import\\.ckpt\\.lock-${process.pid}--[0-9a-f]{8}@`)),
  );
  await expect(fileCheckpoint(path).open()).rejects.toMatchObject({
    message: expect.stringContaining("in use by another run of this process"),
  });
  await open.close();
});

it("A machine's name becomes a part of a file's name, whatever it holds and however long it is", async () => {
  vi.mocked(hostname).mockReturnValue(`../machine room/${"x".repeat(300)}`);

  const open = await fileCheckpoint(path).open();

  const lock = readdirSync(folder).find((name) => name.includes(".lock-"));
  expect(lock?.split("@")[1]).toBe(`..%2Fmachine%20room%2F${"x".repeat(64 - 22)}`);
  await open.close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
