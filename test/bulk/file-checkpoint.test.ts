import { spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  appendFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Opens the file, works with it, closes it. */
async function using<T>(work: (open: OpenCheckpoint) => T | Promise<T>): Promise<T> {
  const open = await fileCheckpoint(path).open();
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

const states = (...keys: string[]) => using((open) => keys.map((key) => open.stateOf(key)));

/** When a process has started, as Linux tells; other systems do not. */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, "utf8").replace(/^.*\) (?:\S+ ){19}(\d+) .*$/s, "$1") : "";
}

/** What opening rejects with. By its text: an error that is undefined would pass for any. */
const refusal = async () =>
  String(
    await fileCheckpoint(path)
      .open()
      .catch((error: unknown) => error),
  );

describe("A file checkpoint", () => {
  it("keeps what was recorded last of each key, over openings", async () => {
    await using(async (open) => {
      await open.record("a", "succeeded");
      await open.record("b", "in-doubt");
      await open.record("c", "in-doubt");
      await open.record("c", "succeeded");
      await open.record("d", "in-doubt");
      await open.record("d", undefined);
      expect([open.stateOf("a"), open.stateOf("c"), open.stateOf("d")]).toEqual([
        "succeeded",
        "succeeded",
        undefined,
      ]);
    });

    expect(await states("a", "b", "c", "d", "e")).toEqual([
      "succeeded",
      "in-doubt",
      "succeeded",
      undefined,
      undefined,
    ]);
  });

  it("has one id for its whole life, and another file another", async () => {
    const ids = [await using(({ id }) => id), await using(({ id }) => id)];
    const other = await fileCheckpoint(join(folder, "other.ckpt")).open();
    await other.close();

    expect(ids[1]).toBe(ids[0]);
    expect(other.id).not.toBe(ids[0]);
  });

  it("takes 18 bytes a row, holds no key, and is for its owner alone", async () => {
    const before = await using(() => statSync(path).size);
    await using((open) => void open.record("ada@example.com", "succeeded"));

    expect(statSync(path).size - before).toBe(18);
    const rows = readFileSync(path, "latin1").slice(before);
    expect(rows).toMatch(/^[\w-]{16}s\n$/); // so no address, of which each has an @
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("keeps any number of keys apart", async () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => `row ${index}`);
    const stateOf = (index: number) => (index % 100 === 0 ? "in-doubt" : "succeeded");
    await using((open) => keys.forEach((key, index) => void open.record(key, stateOf(index))));

    expect(await states(...keys)).toEqual(keys.map((_, index) => stateOf(index)));
    expect(await states("row 5000")).toEqual([undefined]);
  });

  it("reads a file of any length, and keeps what stands last in it of each key", async () => {
    await using((open) =>
      ["a", "b", "a"].forEach((key, at) => void open.record(key, at < 2 ? "in-doubt" : "succeeded")),
    );
    const [heading, inDoubt, , succeeded] = readFileSync(path, "latin1").split("\n");
    const file = (last: string) => `${heading}\n${`${inDoubt}\n`.repeat(70_000)}${last}`;
    writeFileSync(path, file(`${succeeded}\n`));

    expect(await states("a", "b")).toEqual(["succeeded", undefined]);
    expect(readFileSync(path, "latin1")).toBe(file(`${succeeded}\n`));

    writeFileSync(path, file(`${"?".repeat(17)}\n`));
    expect(await refusal()).toMatch(`import.ckpt is damaged at byte ${59 + 70_000 * 18}.`);
  });

  it("drops the line that a crash left torn, wherever it tore", async () => {
    for (let left = 1; left < 18; left++) {
      rmSync(path, { force: true });
      await using((open) => ["a", "b"].forEach((key) => void open.record(key, "succeeded")));
      truncateSync(path, statSync(path).size - left);

      expect(await states("a", "b")).toEqual(["succeeded", undefined]);
      await using((open) => void open.record("c", "succeeded"));
      expect(await states("a", "b", "c")).toEqual(["succeeded", undefined, "succeeded"]);
    }
  });

  it("begins anew where the crash tore its first line, as nothing is on record yet", async () => {
    for (const length of [0, 1, 21, 30, 58]) {
      rmSync(path, { force: true });
      await using(() => undefined);
      truncateSync(path, length);

      expect(await states("a")).toEqual([undefined]);
    }
    // Room that was made, and never written.
    for (const length of [1, 22, 58, 59]) {
      writeFileSync(path, Buffer.alloc(length));

      await using((open) => void open.record("a", "succeeded"));
      expect(await states("a")).toEqual(["succeeded"]);
    }
  });

  it("drops room that a machine without power left empty", async () => {
    await using((open) => void open.record("a", "succeeded"));
    appendFileSync(path, Buffer.alloc(40));

    expect(await states("a")).toEqual(["succeeded"]);
    await using((open) => void open.record("b", "succeeded"));
    expect(await states("a", "b")).toEqual(["succeeded", "succeeded"]);
  });

  it.each(Array.from({ length: 18 }, (_, at) => at))(
    "refuses a file whose second line is damaged at its byte %i, and leaves it as it is",
    async (at) => {
      await using((open) => ["a", "b", "c"].forEach((key) => void open.record(key, "succeeded")));
      const bytes = readFileSync(path);
      bytes[59 + 18 + at] = 0x20;
      writeFileSync(path, bytes);

      expect(await refusal()).toBe(
        `Error: ${path} is damaged at byte 77. Restore it, or begin anew with another file.`,
      );
      expect(readFileSync(path)).toEqual(bytes);
    },
  );

  it("takes room that was left empty for damage where lines stand behind it", async () => {
    await using((open) => ["a", "b", "c"].forEach((key) => void open.record(key, "succeeded")));
    const bytes = readFileSync(path);
    bytes.fill(0, 59 + 18, 59 + 36);
    writeFileSync(path, bytes);

    expect(await refusal()).toMatch("damaged at byte 77");
    expect(readFileSync(path)).toEqual(bytes);
  });

  it.each([
    ["long", "email,first_name\nada@example.com,Ada\n".repeat(3)],
    ["short", "email\nada@example.com\n"],
    ["as long as a heading", "email\n".padEnd(59, "x")],
    ["with another heading", "audience-checkpoint 1 ".padEnd(58, "x") + "\n"],
    ["with the beginning of another heading", "audience-checkpoint 2 0000"],
    ["of zeros alone", "\0".repeat(60)],
    ["of zeros at its beginning", `${"\0".repeat(20)}email`],
    ["of zeros at its end", `email${"\0".repeat(20)}`],
    ["with something before the heading", `x${"audience-checkpoint 1 ".padEnd(58, "0")}\n`],
  ])("refuses a file that is something else, %s, and leaves it as it is", async (_, other) => {
    writeFileSync(path, other);

    expect(await refusal()).toBe(
      `Error: ${path} is not a checkpoint, and is left as it is. Name another file.`,
    );
    expect(readFileSync(path, "utf8")).toBe(other);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("says which folder is not there", async () => {
    await expect(fileCheckpoint(join(folder, "nowhere", "x.ckpt")).open()).rejects.toThrow(/nowhere/);
  });

  it.each([undefined, 7, ""])("takes a path, and not %o", (other) => {
    expect(() => fileCheckpoint(other as never)).toThrow(
      new TypeError("fileCheckpoint takes the path of a file, as a text."),
    );
  });
});

describe("One run at a time", () => {
  it("a second of the same process is refused, and comes in when the first is over", async () => {
    const first = await fileCheckpoint(path).open();

    expect(await refusal()).toMatch(
      /^Error: The checkpoint .*import\.ckpt is in use by another run of this process\. One run at a time; if that is wrong, delete .*import\.ckpt\.lock-/,
    );
    await first.close();

    await (await fileCheckpoint(path).open()).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("one that is over within a moment is waited for", async () => {
    const first = await fileCheckpoint(path).open();
    const second = fileCheckpoint(path).open();
    await first.close();

    await (await second).close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("one that is not over after eight looks, at most 50 ms apart, is in use", async () => {
    const first = await fileCheckpoint(path).open();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    vi.spyOn(Math, "random").mockReturnValue(1);
    let isRefused = false;
    const second = refusal().finally(() => (isRefused = true));

    await vi.advanceTimersByTimeAsync(7 * 50 - 1);
    expect(isRefused).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isRefused).toBe(true);

    expect(await second).toMatch("in use by another run of this process");
    await first.close();
  });

  it("a process on another machine is not judged: its lock stands until somebody deletes it", async () => {
    writeFileSync(`${path}.lock-1-1-00000000@another-machine`, "");
    // Nothing is waited for.
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    expect(await refusal()).toMatch(
      /process 1 on another-machine\. One run at a time; if that machine is gone, delete .*import\.ckpt\.lock-1-1-00000000@another-machine\.$/,
    );
    expect(readdirSync(folder)).toHaveLength(1);
  });

  const here = encodeURIComponent(hostname());
  const layLock = (holder: string) => writeFileSync(`${path}.lock-${holder}-00000000@${here}`, "");

  it.each([
    ["a process that is gone", () => `${2 ** 22 + 1}-1`],
    ["a process that is gone, of which nobody told when it started", () => `${2 ** 22 + 1}-`],
    ["a process whose id another one has now", () => `${process.pid}-1`],
  ])("the lock of %s is cleared away", async (_, holder) => {
    layLock(holder());
    // Nothing is waited for.
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    await (await fileCheckpoint(path).open()).close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["a process that has run since then", () => `${process.ppid}-${startOf(process.ppid)}`],
    ["a process that runs, of which nobody told when it started", () => `${process.ppid}-`],
  ])("the lock of %s stands", async (_, holder) => {
    layLock(holder());

    expect(await refusal()).toMatch(
      `in use by process ${process.ppid}. One run at a time; if that is wrong,`,
    );
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("a process that is not ours to signal is alive", async () => {
    layLock(`${process.ppid}-`);
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });

    expect(await refusal()).toMatch(`in use by process ${process.ppid}.`);
  });

  it("a file that only looks like a lock is nobody's, and is left alone", async () => {
    const names = ["old-1-1-00000000@another-machine", "1-1@another-machine", "1-1-0000000@another-machine"];
    for (const name of names) writeFileSync(`${path}.lock-${name}`, "");

    await (await fileCheckpoint(path).open()).close();

    expect(readdirSync(folder)).toHaveLength(1 + names.length);
  });

  it("a lock that somebody deleted is missed by nobody", async () => {
    const open = await fileCheckpoint(path).open();
    for (const name of readdirSync(folder)) if (name.includes(".lock-")) rmSync(join(folder, name));

    await open.close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("of many that come at once upon a lock that is stale, never two are in", async () => {
    for (let round = 0; round < 5; round++) {
      writeFileSync(`${path}.lock-${2 ** 22 + 1}-1-00000000@${encodeURIComponent(hostname())}`, "");
      let [inside, most] = [0, 0];
      const come = async () => {
        const open = await fileCheckpoint(path).open();
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside--;
        await open.close();
        return "in";
      };

      const outcomes = await Promise.allSettled(Array.from({ length: 4 }, come));

      expect(most).toBe(1);
      expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
    }
  });
});

describe("A disk that is full", () => {
  it("ends the run before it loses track, and the next run goes on from what is on record", async () => {
    const program = fileURLToPath(new URL("full-disk/child.ts", import.meta.url));
    const run = (blocks: string) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        // `ulimit -f` counts in blocks of 1,024 bytes: no file may grow beyond.
        const command = `ulimit -f ${blocks}; exec "$0" --import tsx "$1" "$2"`;
        const child = spawn("bash", ["-c", command, process.execPath, program, path], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        let out = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
        child.on("error", reject).on("close", () => resolve(JSON.parse(out) as Record<string, unknown>));
      });

    const full = await run("1");
    const roomy = await run("unlimited");

    // 59 bytes of heading and 53 lines of 18 bytes go into 1,024.
    expect(full).toMatchObject({
      error: expect.stringMatching(/import\.ckpt cannot be written .*EFBIG.*the run stops/),
    });
    expect(Number(full["sent"])).toBeLessThanOrEqual(53 + 10);
    expect(roomy).toMatchObject({ skipped: 53, succeeded: 100 - 53, total: 100 });
  });
});
