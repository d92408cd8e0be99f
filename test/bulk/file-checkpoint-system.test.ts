import type * as FileSystem from "node:fs";
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import type * as System from "node:os";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";

// The file system calls: a test can log, delay or fail each of them.
vi.mock("node:fs", async (original) => {
  const real = await original<typeof FileSystem>();
  const watched = [
    "appendFileSync",
    "closeSync",
    "fdatasyncSync",
    "openSync",
    "readFileSync",
    "renameSync",
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
  vi.mocked(fdatasyncSync).mockImplementation((handle) => {
    log.push("to the disk");
    real.fdatasyncSync(handle);
  });
  return log;
}

it("A record that asks for a flush is on the disk when set() resolves; any other is in the kernel's buffers", async () => {
  const open = await fileCheckpoint(path).open();
  const log = logged();

  await open.set("a", "1", { flush: true });
  await open.set("a", "2");
  await open.set("b", "3", { flush: false });
  await open.set("b", undefined, { flush: true });

  expect(log).toEqual(["write", "to the disk", "write", "write", "write", "to the disk"]);
  await open.close();
});

it("Each open handle is closed once", async () => {
  const log = logged();

  await (await fileCheckpoint(path).open()).close();

  const opened = log.filter((line) => line.startsWith("open")).map((line) => line.slice(5));
  const closed = log.filter((line) => line.startsWith("close")).map((line) => line.slice(6));
  expect(opened.length).toBeGreaterThan(0);
  expect(closed.sort()).toEqual(opened.sort());
});

it("A rewritten file is flushed before it replaces the old file, which stays if the flush fails", async () => {
  const open = await fileCheckpoint(path).open();
  for (let n = 0; n <= 10_000; n++) await open.set("a", String(n));
  await open.close();
  const before = real.readFileSync(path);
  const log = logged();
  const failure = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
  vi.mocked(renameSync).mockImplementationOnce(() => {
    log.push("rename");
    throw failure;
  });

  await expect(fileCheckpoint(path).open()).rejects.toBe(failure);

  expect(log.indexOf("to the disk")).toBeGreaterThanOrEqual(0);
  expect(log.indexOf("to the disk")).toBeLessThan(log.indexOf("rename"));
  expect(real.readFileSync(path)).toEqual(before);
  // The temporary file does not disturb the next run.
  const again = await fileCheckpoint(path).open();
  expect(again.get("a")).toEqual("10000");
  await again.close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  expect(real.statSync(path).size).toBeLessThan(100);
});

it.each([
  ["write", appendFileSync],
  ["flush", fdatasyncSync],
] as const)(
  "A value that the disk refuses to %s is not recorded, and the run ends with the reason",
  async (...each) => {
    const [, step] = each;
    const open = await fileCheckpoint(path).open();
    const cause = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    vi.mocked(step).mockImplementationOnce((handle) => {
      // A full disk takes a part of the line.
      if (step === appendFileSync) real.appendFileSync(handle, '["0123456789abcdef",');
      throw cause;
    });

    expect(() => open.set("a", "1 and more than the next", { flush: true })).toThrow(
      expect.objectContaining({
        message: `The checkpoint ${path} cannot be written (ENOSPC: no space left on device); the run stops, so that no row goes unrecorded.`,
        code: "ENOSPC",
        cause,
      }),
    );
    expect(open.get("a")).toBeUndefined();
    await open.set("b", "2");
    await open.close();

    const next = await fileCheckpoint(path).open();
    expect([next.get("a"), next.get("b")]).toEqual([undefined, "2"]);
    await next.close();
  },
);

it("The lock is released even where closing the file fails", async () => {
  const open = await fileCheckpoint(path).open();
  const failure = new Error("EIO: i/o error");
  vi.mocked(closeSync).mockImplementationOnce((handle) => {
    real.closeSync(handle);
    throw failure;
  });

  expect(() => open.close()).toThrow(failure);
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("On a system without process start times, the process id alone identifies the lock's owner", async () => {
  vi.mocked(readFileSync).mockImplementation(((file: string, encoding?: "utf8") => {
    if (!file.startsWith("/proc/")) return real.readFileSync(file, encoding);
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  }) as typeof readFileSync);

  const open = await fileCheckpoint(path).open();

  expect(readdirSync(folder)).toContainEqual(
    expect.stringMatching(new RegExp(`^import\\.ckpt\\.lock-${process.pid}--[0-9a-f]{8}@`)),
  );
  await expect(fileCheckpoint(path).open()).rejects.toMatchObject({
    message: expect.stringContaining(`in use by process ${process.pid} on `),
  });
  await open.close();
});

it("Any machine name is encoded into the lock's file name, whatever its characters and length", async () => {
  vi.mocked(hostname).mockReturnValue(`../machine room/${"x".repeat(300)}`);

  const open = await fileCheckpoint(path).open();

  const lock = readdirSync(folder).find((name) => name.includes(".lock-"));
  expect(lock?.split("@")[1]).toBe(`..%2Fmachine%20room%2F${"x".repeat(64 - 22)}`);
  await open.close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
