import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { eventually } from "../eventually.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** The error that opening rejects with, as a string: undefined would match any error. */
const refusal = async () =>
  String(
    await fileCheckpoint(path)
      .open()
      .catch((error: unknown) => error),
  );

const locks = () => readdirSync(folder).filter((name) => name.includes(".lock-"));

/** Leaves a lock as this process creates it, but for some parts of its name. */
async function leaveLock(change: { pid?: number; started?: string; namespace?: string; host?: string } = {}) {
  const open = await fileCheckpoint(path).open();
  const [, pid, started, namespace, host] =
    /\.lock-(\d+)-(\d+)-([0-9a-f]{16})-[0-9a-f]{8}@(.+)$/.exec(locks()[0] ?? "") ??
    expect.fail(`no lock in ${readdirSync(folder).join(", ")}`);
  await open.close();
  const own = { pid, started, namespace, host, ...change };
  const lock = `${path}.lock-${own.pid}-${own.started}-${own.namespace}-00000000@${own.host}`;
  writeFileSync(lock, "");
  return lock;
}

const noProcess = 2 ** 22 + 1;

/** Opens the checkpoint under fake time; `isSettled` tells whether that has ended. */
function opening() {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const state = { isSettled: false, opened: fileCheckpoint(path).open() };
  const settle = () => void (state.isSettled = true);
  state.opened.then(settle, settle);
  return state;
}

describe("One run at a time", () => {
  it("a second run of the same process is refused, and can open after the first", async () => {
    const first = await fileCheckpoint(path).open();

    expect(await refusal()).toMatch(
      /^ConfigurationError: The checkpoint .*import\.ckpt is in use by process \d+ on .+, which renews its lock\. One run at a time: end that process or wait until it has ended, and run this again\.$/,
    );
    expect(locks()).toHaveLength(1);
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
    ["another machine", { host: "another-machine" }],
    ["another machine with the same name", { namespace: "0123456789abcdef", pid: noProcess }],
    ["a system that tells no namespace", { namespace: "", started: "", pid: noProcess }],
    ["a process that lives, as one that is suspended", { pid: process.ppid, started: startOf(process.ppid) }],
  ])("the lock of %s is taken over after 20 to 24 seconds without a renewal", async (_, holder) => {
    const lock = await leaveLock(holder);
    const state = opening();

    await vi.advanceTimersByTimeAsync(20_000 - 1);
    expect(state.isSettled).toBe(false);
    expect(existsSync(lock)).toBe(true);
    await vi.advanceTimersByTimeAsync(4_500);

    const open = await state.opened;
    expect(existsSync(lock)).toBe(false);
    expect(locks()).toHaveLength(1);
    await open.close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["the waiting machine's", () => new Date()],
    ["far behind", () => new Date(1_000)],
    ["far ahead", () => new Date(Date.now() + 1e9)],
  ])("a lock that is renewed at any time is respected, where its clock is %s", async (_, clock) => {
    const lock = await leaveLock({ host: "another-machine" });
    utimesSync(lock, new Date(500), new Date(500));
    const state = opening();
    state.opened.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(19_500);
    expect(state.isSettled).toBe(false);

    utimesSync(lock, clock(), clock());
    await vi.advanceTimersByTimeAsync(300);

    await expect(state.opened).rejects.toThrow(
      `is in use by process ${process.pid} on another-machine, which renews its lock. One run at a time`,
    );
    expect(existsSync(lock)).toBe(true);
  });

  it("a lock that its run releases meanwhile is not waited for", async () => {
    const lock = await leaveLock({ host: "another-machine" });
    const { opened } = opening();
    await vi.advanceTimersByTimeAsync(5_000);

    rmSync(lock);
    await vi.advanceTimersByTimeAsync(300);

    await (await opened).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["a process that has ended", { pid: noProcess }],
    ["a process whose id now belongs to another one", { started: "1" }],
  ])("on the same machine the lock of %s is removed at once", async (_, holder) => {
    await leaveLock(holder);
    const { opened } = opening();

    await (await opened).close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("a process that may not be signalled counts as running", async () => {
    const lock = await leaveLock({ pid: process.ppid, started: startOf(process.ppid) });
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    const state = opening();
    state.opened.catch(() => undefined);

    await vi.advanceTimersByTimeAsync(1_000);
    utimesSync(lock, new Date(500), new Date(500));
    await vi.advanceTimersByTimeAsync(300);

    await expect(state.opened).rejects.toThrow(`in use by process ${process.ppid} on `);
  });

  it("a file that only resembles a lock is ignored and not deleted", async () => {
    const names = [
      "old-1-1-0-00000000@another-machine",
      "1-1@another-machine",
      "1-1-0-0000000@another-machine",
    ];
    for (const name of names) writeFileSync(`${path}.lock-${name}`, "");

    await (await fileCheckpoint(path).open()).close();

    expect(readdirSync(folder)).toHaveLength(1 + names.length);
  });

  it("a deleted lock does not make the end of its run fail", async () => {
    const open = await fileCheckpoint(path).open();
    for (const name of locks()) rmSync(join(folder, name));

    await open.close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("only one of many simultaneous runs takes over a stale lock", async () => {
    for (let round = 0; round < 3; round++) {
      await leaveLock({ pid: noProcess });
      let [inside, most] = [0, 0];
      const come = async () => {
        const open = await fileCheckpoint(path).open();
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside--;
        await open.close();
      };

      await Promise.all(Array.from({ length: 4 }, come));

      expect(most).toBe(1);
      expect(readdirSync(folder)).toEqual(["import.ckpt"]);
    }
  });

  it("several processes, each of which is killed in its lock, are inside one after the other", async () => {
    const program = join(folder, "child.mjs");
    const notes = join(folder, "notes.txt");
    await bundleProgram("test/bulk/killed-import/locking-child.ts", program);
    const [processes, times] = [5, 6];
    const ends = Array.from({ length: processes }, () => {
      const child = spawn(process.execPath, [program, path, notes, String(times)], { stdio: "inherit" });
      return new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
    });

    expect(await Promise.all(ends)).toEqual(Array.from({ length: processes }, () => "SIGKILL"));

    const lines = readFileSync(notes, "utf8").trim().split("\n");
    expect(lines).toHaveLength(2 * processes * times);
    const pairs = lines.flatMap((line, at) => (at % 2 === 0 ? [[line, lines[at + 1]]] : []));
    for (const [first, second] of pairs) expect(second).toBe(first?.replace(" in", " out"));
  });
});

it("A folder that goes while a checkpoint opens leaves no lock behind", async () => {
  const gone = fileCheckpoint(path).open();
  rmSync(folder, { recursive: true });
  await expect(gone).rejects.toMatchObject({ code: "ENOENT" });
  mkdirSync(folder);

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

/** The id and the start of a killed process whose parent never asks for its exit code: a zombie. */
async function zombie(): Promise<string> {
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"]);
  onTestFinished(() => void parent.kill());
  const [output] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(String(output));
  const stat = (id = pid) => readFileSync(`/proc/${id}/stat`, "utf8");
  // The shell itself would collect it.
  await eventually(() => expect(stat(parent.pid)).toContain("(sleep)"));
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(stat()).toContain(") Z "));
  return `${pid}-${stat().split(" ")[21]}`;
}

it("The lock of a killed process is removed before its parent has collected it", async () => {
  const open = await fileCheckpoint(path).open();
  const own = readdirSync(folder).find((name) => name.includes(".lock-")) ?? "";
  await open.close();
  writeFileSync(join(folder, own.replace(/\d+-\d+/, await zombie())), "");
  // There is no wait.
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});

/** The start time of a process; Linux alone reports it. */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, "utf8").replace(/^.*\) (?:\S+ ){19}(\d+) .*$/s, "$1") : "";
}
