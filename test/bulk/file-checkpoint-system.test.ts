import type * as FileSystem from "node:fs";
import {
  appendFileSync,
  closeSync,
  fchownSync,
  fdatasyncSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeSync,
} from "node:fs";
import type * as System from "node:os";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { createFixture, key, rows } from "./fixture.ts";

// The file system calls: a test can log, delay or fail each of them.
vi.mock("node:fs", async (original) => {
  const real = await original<typeof FileSystem>();
  const watched = [
    "appendFileSync",
    "closeSync",
    "fchownSync",
    "fdatasyncSync",
    "fstatSync",
    "openSync",
    "readdirSync",
    "readFileSync",
    "renameSync",
    "utimesSync",
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

/** Opens the file, and reads its lines. */
async function openAndRead(): Promise<{ open: OpenCheckpoint; lines: string[] }> {
  const open = await fileCheckpoint(path).open();
  const lines: string[] = [];
  for await (const line of open.lines) lines.push(line);
  return { open, lines };
}

const kept = { flush: false };

it("A line that asks for a flush is on the disk when append() resolves; any other is in the kernel's buffers", async () => {
  const { open } = await openAndRead();
  const log = logged();

  await open.append("[1]", { flush: true });
  await open.append("[2]", kept);
  await open.append("[3]", kept);
  await open.append("[4]", { flush: true });

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

/** Rewrites a file of two lines with one. */
async function rewriteFile(): Promise<unknown> {
  const { open } = await openAndRead();
  try {
    return await open.rewrite(["[3]"]);
  } finally {
    await open.close();
  }
}

async function fileOfTwoLines(): Promise<Buffer> {
  const { open } = await openAndRead();
  await open.append("[1]", kept);
  await open.append("[2]", kept);
  await open.close();
  return real.readFileSync(path);
}

async function linesOf(): Promise<string[]> {
  const { open, lines } = await openAndRead();
  await open.close();
  return lines;
}

it("A rewritten file is flushed before it replaces the old file, and takes further lines", async () => {
  await fileOfTwoLines();
  const log = logged();
  vi.mocked(renameSync).mockImplementationOnce((from, to) => {
    log.push("rename");
    real.renameSync(from, to);
  });
  const { open } = await openAndRead();

  await open.rewrite(["[3]"]);
  await open.append("[4]", kept);
  await open.close();

  expect(log.indexOf("to the disk")).toBeGreaterThanOrEqual(0);
  expect(log.indexOf("to the disk")).toBeLessThan(log.indexOf("rename"));
  expect(await linesOf()).toEqual(["[3]", "[4]"]);
});

it.each([
  ["written", writeSync],
  ["flushed", fdatasyncSync],
  ["renamed", renameSync],
] as const)(
  "Where the new file cannot be %s the old one stays as it is, and the new one takes no space",
  async (...each) => {
    const [, step] = each;
    const before = await fileOfTwoLines();
    vi.mocked<(...given: never[]) => unknown>(step).mockImplementationOnce(() => {
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    });

    await expect(rewriteFile()).rejects.toThrow("ENOSPC");

    expect(real.readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
    expect(await linesOf()).toEqual(["[1]", "[2]"]);
  },
);

it("A run whose file cannot be rewritten goes on with it as it is", async () => {
  const { audience, upsert } = createFixture();
  const night = (city: number) =>
    audience.bulk(
      rows(5).map((row) => ({ ...row, city: `City ${city}` })),
      upsert,
      { key, checkpoint: fileCheckpoint(path), checkConsent: false },
    );
  for (let city = 0; city < 3; city += 1) await night(city);
  let refused = 0;
  vi.mocked(renameSync).mockImplementation(() => {
    refused += 1;
    throw new Error("EPERM: operation not permitted");
  });
  for (let city = 3; city < 6; city += 1) expect(await night(city)).toMatchObject({ succeeded: 5 });

  expect(refused).toBeGreaterThan(0);
  expect(await night(5)).toMatchObject({ skipped: 5 });
});

it("A file that belongs to another user and group is rewritten only if it stays theirs", async () => {
  const before = await fileOfTwoLines();
  const { uid, gid } = real.statSync(path);
  // The new file is created by somebody else.
  vi.mocked(fstatSync).mockImplementation((handle: number) =>
    Object.assign(real.fstatSync(handle), { uid: uid + 1, gid: gid + 1 }),
  );
  vi.mocked(fchownSync).mockImplementationOnce(() => {
    throw Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" });
  });

  await expect(rewriteFile()).rejects.toThrow("EPERM");
  expect(real.readFileSync(path)).toEqual(before);
  await rewriteFile();

  expect(real.statSync(path)).toMatchObject({ uid, gid });
  expect(await linesOf()).toEqual(["[3]"]);
  expect(vi.mocked(fchownSync).mock.calls).toEqual([
    [expect.any(Number), uid, gid],
    [expect.any(Number), uid, gid],
  ]);
});

it.each([
  ["write", appendFileSync],
  ["flush", fdatasyncSync],
] as const)(
  "A line that the disk refuses to %s is not recorded, and its error says why and what to do",
  async (...each) => {
    const [, step] = each;
    const { open } = await openAndRead();
    await open.append("[1]", kept);
    const cause = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    vi.mocked(step).mockImplementationOnce((handle) => {
      // A full disk takes a part of the line.
      if (step === appendFileSync) real.appendFileSync(handle, "12345678 [2");
      throw cause;
    });

    await expect(open.append("[2 and more than the next]", { flush: true })).rejects.toThrow(
      expect.objectContaining({
        message:
          `The checkpoint ${path} cannot be written (ENOSPC: no space left on device); the run stops, so that no row goes unrecorded. ` +
          "Mend the cause, such as a full disk, and run it again: it continues from what the file records.",
        code: "ENOSPC",
        cause,
      }),
    );
    await open.append("[3]", kept);
    await open.close();

    expect(await linesOf()).toEqual(["[1]", "[3]"]);
  },
);

it("The lock is released even where closing the file fails", async () => {
  const open = await fileCheckpoint(path).open();
  const failure = new Error("EIO: i/o error");
  vi.mocked(closeSync).mockImplementationOnce((handle) => {
    real.closeSync(handle);
    throw failure;
  });

  await expect(open.close()).rejects.toBe(failure);
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

/** Reads of these files in /proc give other contents; undefined: they cannot be read. */
function replaceProc(files: Record<string, string | undefined>): void {
  vi.mocked(readFileSync).mockImplementation(((file: string, encoding?: "utf8") => {
    if (!(file in files)) return real.readFileSync(file, encoding);
    return files[file] ?? expect.fail("ENOENT: no such file");
  }) as typeof readFileSync);
}

const ownStat = "/proc/self/stat";

it.each([
  ["a system without /proc", { [ownStat]: undefined }, ""],
  ["a namespace that sees the /proc of another one", { [ownStat]: "999999999 (node) S 1 2 3" }, ""],
  ["a sandbox without a boot id", { "/proc/sys/kernel/random/boot_id": undefined }, "\\d+"],
])("On %s no process id shows that a run has ended: its lock is waited for", async (_, files, started) => {
  replaceProc(files);
  const first = await fileCheckpoint(path).open();
  const lock = readdirSync(folder).find((name) => name.includes(".lock-"));
  expect(lock).toMatch(new RegExp(`^import\\.ckpt\\.lock-${process.pid}-${started}--[0-9a-f]{8}@`));
  await first.close();
  // As if its process had been killed.
  real.writeFileSync(join(folder, lock!.replace(/-\d+-/, "-4194305-")), "");
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());

  const opening = fileCheckpoint(path).open();
  await vi.advanceTimersByTimeAsync(19_999);
  expect(readdirSync(folder)).toContain(lock!.replace(/-\d+-/, "-4194305-"));
  await vi.advanceTimersByTimeAsync(4_500);

  await (await opening).close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("A process that /proc hides counts as running", async () => {
  const first = await fileCheckpoint(path).open();
  replaceProc({ [`/proc/${process.pid}/stat`]: undefined });
  const second = fileCheckpoint(path).open();

  await expect(second).rejects.toThrow(`in use by process ${process.pid} on `);
  await first.close();
});

describe("A run that stands still, as in a suspended machine, and whose lock is taken over", () => {
  /** Takes over the checkpoint of a run that cannot renew its lock. */
  async function takeOver() {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const opening = fileCheckpoint(path).open();
    await vi.advanceTimersByTimeAsync(25_000);
    vi.useRealTimers();
    return await opening;
  }

  it("stops before it sends or writes anything more", async () => {
    vi.mocked(utimesSync).mockImplementation(() => expect.fail("EIO: i/o error"));
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(rows(3), upsert, { key, checkpoint: fileCheckpoint(path), concurrency: 1 });
    const statuses: string[] = [];
    let other: OpenCheckpoint | undefined;
    let left: Buffer | undefined;

    const failure = failureOf(
      (async () => {
        for await (const { status } of run) {
          statuses.push(status);
          other ??= await takeOver();
          left ??= real.readFileSync(path);
        }
      })(),
    );

    const error = await failure;
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      outcome: "unknown",
      message:
        `The run no longer has its checkpoint ${path}: its lock was taken over by another run, or deleted. ` +
        "It stops before it writes. Restore the file if it is missing, and run this again: it continues from what " +
        "the file records.",
    });
    expect(mock.requests).toHaveLength(1);
    expect(real.readFileSync(path)).toEqual(left);
    // The end of the run does not release the lock of the other one.
    expect(readdirSync(folder)).toHaveLength(2);
    await other!.close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("does not send a row again that it had sent before", async () => {
    vi.mocked(utimesSync).mockImplementation(() => expect.fail("EIO: i/o error"));
    let other: OpenCheckpoint | undefined;
    const { mock, audience } = createFixture({ faults: [{ kind: "429", times: 1 }] });
    const taken = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      other = await takeOver();
      return response;
    };
    const client = audience.withOptions({ fetch: taken });
    const run = client.bulk(rows(1), (contact, request) => client.v1.customers.upsert(contact, request), {
      key,
      checkpoint: fileCheckpoint(path),
    });

    expect(await failureOf(run.summary())).toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("its lock was taken over by another run") as string,
    });
    expect(mock.requests.map(({ status }) => status)).toEqual([429]);
    await other!.close();
  });

  it("while it still reads the file, it drops no line that the other one is writing", async () => {
    await fileOfTwoLines();
    appendFileSync(path, "1234");
    const before = real.readFileSync(path);
    const { open } = await openAndRead();
    const lock = readdirSync(folder).find((name) => name.includes(".lock-"));
    rmSync(join(folder, lock!));

    await expect(open.append("[3]", kept)).rejects.toThrow(
      "its lock was taken over by another run, or deleted",
    );

    expect(real.readFileSync(path)).toEqual(before);
    await open.close();
  });

  it("does not rewrite it either", async () => {
    vi.mocked(utimesSync).mockImplementation(() => undefined);
    const { open: first } = await openAndRead();
    await first.append("[1]", kept);
    const second = await takeOver();

    await expect(first.rewrite([])).rejects.toThrow("its lock was taken over by another run, or deleted");

    await first.close();
    await second.close();
    expect(await linesOf()).toEqual(["[1]"]);
  });
});

it("A lock is renewed every second, as long as its run has it", async () => {
  const open = await fileCheckpoint(path).open();
  const name = readdirSync(folder).find((each) => each.includes(".lock-")) ?? "";
  const renewals = () => vi.mocked(utimesSync).mock.calls.map(([lock]) => lock);

  const startedMs = performance.now();
  await vi.waitFor(() => expect(renewals()).toHaveLength(2), { timeout: 60_000 });
  expect(performance.now() - startedMs).toBeGreaterThan(1_900);
  expect(new Set(renewals())).toEqual(new Set([join(folder, name)]));

  await open.close();
});

it("A run that sees another one beside its own new lock goes back, and tries again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const other = "import.ckpt.lock-1-1-0-00000000@another-machine";
  vi.mocked<(folder: string) => string[]>(readdirSync).mockImplementationOnce((each) => {
    // The other one comes after this look.
    const names = real.readdirSync(each);
    real.writeFileSync(join(folder, other), "");
    return names;
  });

  const opening = fileCheckpoint(path).open();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(real.readdirSync(folder)).toEqual(["import.ckpt", other]);
  real.rmSync(join(folder, other));
  await vi.advanceTimersByTimeAsync(300);

  await (await opening).close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("A lock that is released between two looks at it keeps nobody waiting", async () => {
  vi.mocked<(folder: string) => string[]>(readdirSync).mockImplementationOnce((each) => [
    ...real.readdirSync(each),
    "import.ckpt.lock-1-1-0-00000000@another-machine",
  ]);
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("A lock is held and released also where timers are numbers", async () => {
  vi.spyOn(globalThis, "setInterval").mockReturnValue(5 as never);

  const { open } = await openAndRead();
  await open.append("[1]", kept);
  await open.close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

it("Any machine name is encoded into the lock's file name, whatever its characters and length", async () => {
  vi.mocked(hostname).mockReturnValue(`../machine room/${"x".repeat(300)}`);

  const open = await fileCheckpoint(path).open();

  const lock = readdirSync(folder).find((name) => name.includes(".lock-"));
  expect(lock?.split("@")[1]).toBe(`..%2Fmachine%20room%2F${"x".repeat(64 - 22)}`);
  await open.close();
  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
