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

const values = (...keys: string[]) =>
  using(async (open) => {
    const found: (string | null | undefined)[] = [];
    for (const key of keys) found.push(await open.get(key));
    return found;
  });

const heading = "audience-checkpoint 2\n";

/** The start time of a process; Linux alone reports it. */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, "utf8").replace(/^.*\) (?:\S+ ){19}(\d+) .*$/s, "$1") : "";
}

/** The error that opening rejects with, as a string: undefined would match any error. */
const refusal = async () =>
  String(
    await fileCheckpoint(path)
      .open()
      .catch((error: unknown) => error),
  );

describe("A file checkpoint", () => {
  it("keeps the last value of each key after it is reopened", async () => {
    const kept = ["a", "2", 'ü \u{1f600}\n"\\', undefined, undefined];
    await using(async (open) => {
      await open.set("a", "a");
      await open.set("b", "2");
      await open.set("c", "3");
      await open.set("c", 'ü \u{1f600}\n"\\');
      await open.set("d", "4");
      await open.set("d", undefined);
      expect(["a", "b", "c", "d", "e"].map((key) => open.get(key))).toEqual(kept);
    });

    expect(await values("a", "b", "c", "d", "e")).toEqual(kept);
  });

  it("is empty after clear(), and can be used again", async () => {
    await using(async (open) => {
      await open.set("a", "1");
      await open.clear();
      expect(open.get("a")).toBeUndefined();
    });
    expect(readFileSync(path, "latin1")).toBe(heading);

    await using((open) => void open.set("b", "2"));
    expect(await values("a", "b")).toEqual([undefined, "2"]);
  });

  it("names its version, has a line of JSON for each value, contains no key, and is readable by its owner only", async () => {
    await using(async (open) => {
      await open.set("ada@example.com", "1");
      await open.set("ada@example.com", undefined);
    });

    const [first, second, third, ...rest] = readFileSync(path, "latin1").split("\n");
    expect(`${first}\n`).toBe(heading);
    // So it contains no e-mail address.
    expect(second).toMatch(/^\["[\w-]{16}","1"\]$/);
    expect(third).toBe(`${second?.split(",")[0]}]`);
    expect(rest).toEqual([""]);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("keeps any number of keys apart", async () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => `row ${index}`);
    await using((open) => keys.forEach((key, index) => void open.set(key, String(index))));

    expect(await values(...keys)).toEqual(keys.map((_, index) => String(index)));
    expect(await values("row 5000")).toEqual([undefined]);
  });

  describe("with outdated lines", () => {
    /** A file with one line of `a`, `count` lines of `b`, and one that deletes `a`. */
    const longFile = async (times: number) => {
      await using(async (open) => {
        await open.set("a", "1");
        await open.set("b", "2");
        await open.set("a", undefined);
      });
      const [, a, b, forgotten] = readFileSync(path, "latin1").split("\n");
      const file = `${heading}${a}\n${`${b}\n`.repeat(times)}${forgotten}\n`;
      writeFileSync(path, file, { mode: 0o600 });
      return { file, b: `${b}\n` };
    };

    it("is read completely and rewritten when it is opened; later values are appended", async () => {
      const { b } = await longFile(70_000);

      await using((open) => void open.set("c", "3"));

      expect(readFileSync(path, "latin1").slice(0, heading.length + b.length)).toBe(heading + b);
      expect(await values("a", "b", "c")).toEqual([undefined, "2", "3"]);
      expect(statSync(path).size).toBeLessThan(heading.length + 3 * b.length);
      expect(statSync(path).mode & 0o077).toBe(0);
      expect(readdirSync(folder)).toEqual(["import.ckpt"]);
    });

    it("is not rewritten while it has few of them", async () => {
      const { file } = await longFile(9_900);

      expect(await values("a", "b")).toEqual([undefined, "2"]);

      expect(readFileSync(path, "latin1")).toBe(file);
    });

    it("is not rewritten where a line is damaged", async () => {
      const { file } = await longFile(70_000);
      writeFileSync(path, `${file}?\n`);

      expect(await refusal()).toMatch(`import.ckpt is damaged at line ${1 + 70_002 + 1},`);
      expect(readFileSync(path, "latin1")).toBe(`${file}?\n`);
      expect(readdirSync(folder)).toEqual(["import.ckpt"]);
    });
  });

  it("drops a line that a crash cut off at any byte", async () => {
    const line = () => readFileSync(path, "latin1").split("\n")[2]!.length + 1;
    await using((open) => ["a", "b"].forEach((key) => void open.set(key, "1")));
    for (let left = 1; left < line(); left++) {
      rmSync(path, { force: true });
      await using((open) => ["a", "b"].forEach((key) => void open.set(key, "1")));
      truncateSync(path, statSync(path).size - left);

      expect(await values("a", "b")).toEqual(["1", undefined]);
      await using((open) => void open.set("c", "3"));
      expect(await values("a", "b", "c")).toEqual(["1", undefined, "3"]);
    }
  });

  it("starts empty where a crash cut off its first line, because nothing was recorded", async () => {
    for (const length of [0, 1, 10, heading.length - 1]) {
      rmSync(path, { force: true });
      await using(() => undefined);
      truncateSync(path, length);

      expect(await values("a")).toEqual([undefined]);
    }
    // Allocated space that was never written.
    for (const length of [1, heading.length - 1, heading.length, 5_000]) {
      writeFileSync(path, Buffer.alloc(length));

      await using((open) => void open.set("a", "1"));
      expect(await values("a")).toEqual(["1"]);
    }
  });

  it("drops zero bytes at its end that a power failure left", async () => {
    await using((open) => void open.set("a", "1"));
    appendFileSync(path, Buffer.alloc(40));

    expect(await values("a")).toEqual(["1"]);
    await using((open) => void open.set("b", "2"));
    expect(await values("a", "b")).toEqual(["1", "2"]);
  });

  const lineLength = '["0123456789abcdef","1"]\n'.length;
  const damage = (length: number, byte: number) =>
    Array.from({ length }, (_, at) => [at, `0x${byte.toString(16)}`, byte] as const);

  it.each([
    ...damage(lineLength, 0),
    // Invalid UTF-8.
    ...damage(lineLength, 0xff),
    // Within the value, a space may be part of a string.
    ...damage('["0123456789abcdef","'.length, 0x20),
  ])(
    "refuses a file whose second line is damaged at byte %i by %s, and does not change it",
    async (at, _, byte) => {
      await using((open) => ["a", "b", "c"].forEach((key) => void open.set(key, "1")));
      const bytes = readFileSync(path);
      expect(bytes).toHaveLength(heading.length + 3 * lineLength);
      bytes[heading.length + lineLength + at] = byte;
      writeFileSync(path, bytes);

      expect(await refusal()).toBe(
        `ConfigurationError: ${path} is damaged at line 3, and is left unchanged. Restore it, or start again with another file.`,
      );
      expect(readFileSync(path)).toEqual(bytes);
    },
  );

  it.each([
    ["no JSON", '["0123456789abcdef","1"'],
    ["nothing", ""],
    ["no array", '{"0123456789abcdef":"1"}'],
    ["an empty array", "[]"],
    ["a hash that is no string", '[5,"1"]'],
    ["a hash that is too short", '["0123456789abcde","1"]'],
    ["a hash that is too long", '["0123456789abcdef0","1"]'],
    ["an empty hash", '["","1"]'],
    ["a value that is an object", '["0123456789abcdef",{}]'],
    ["a value that is null", '["0123456789abcdef",null]'],
    ["a value that is an array", '["0123456789abcdef",[]]'],
    ["a broken escape", '["0123456789abcdef","\\q"]'],
    ["characters after the value", '["0123456789abcdef","1",{}]'],
  ])("refuses a file with a line of %s, and does not change it", async (_, line) => {
    const file = `${heading}["fedcba9876543210","1"]\n${line}\n["fedcba9876543210"]\n`;
    writeFileSync(path, file);

    expect(await refusal()).toBe(
      `ConfigurationError: ${path} is damaged at line 3, and is left unchanged. Restore it, or start again with another file.`,
    );
    expect(readFileSync(path, "utf8")).toBe(file);
  });

  it("treats zero bytes before further lines as damage", async () => {
    await using((open) => ["a", "b", "c"].forEach((key) => void open.set(key, "1")));
    const bytes = readFileSync(path);
    bytes.fill(0, heading.length + lineLength, heading.length + 2 * lineLength);
    writeFileSync(path, bytes);

    expect(await refusal()).toMatch("damaged at line 3");
    expect(readFileSync(path)).toEqual(bytes);
  });

  it.each([heading.length, 500, 4_096])(
    "refuses a file whose first %i bytes are zero and followed by lines",
    async (length) => {
      await using((open) => {
        for (let index = 0; index < 1_000; index++) void open.set(`row ${index}`, String(index));
      });
      const bytes = readFileSync(path);
      bytes.fill(0, 0, length);
      writeFileSync(path, bytes);

      expect(await refusal()).toMatch(/import\.ckpt is .* is left unchanged\./);
      expect(readFileSync(path)).toEqual(bytes);
    },
  );

  it.each([
    ["long", "email,first_name\nada@example.com,Ada\n".repeat(3)],
    ["short", "email\nada@example.com\n"],
    ["as long as a heading", "email\n".padEnd(heading.length, "x")],
    ["of zeros at its beginning", `${"\0".repeat(20)}email`],
    ["of zeros at its end", `email${"\0".repeat(20)}`],
    ["with characters before the heading", `x${heading}`],
    ["with a heading of no version", "audience-checkpoint x\n"],
  ])("refuses another kind of file, %s, and does not change it", async (_, other) => {
    writeFileSync(path, other);

    expect(await refusal()).toBe(
      `ConfigurationError: ${path} is not a checkpoint, and is left unchanged. Name another file.`,
    );
    expect(readFileSync(path, "utf8")).toBe(other);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["1", `${"audience-checkpoint 1 ".padEnd(58, "x")}\n`],
    ["3", 'audience-checkpoint 3\n["0123456789abcdef","1"]\n'],
    ["20", "audience-checkpoint 20\n"],
  ])("refuses a file of version %s with the remedy, and does not change it", async (version, other) => {
    writeFileSync(path, other);

    expect(await refusal()).toBe(
      `ConfigurationError: ${path} is a checkpoint of another version (format ${version}, this one reads 2), and is left unchanged. ` +
        "End its run with the version of audience-sdk that wrote it, or name another file: then every row is sent once.",
    );
    expect(readFileSync(path, "utf8")).toBe(other);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("names the missing folder", async () => {
    await expect(fileCheckpoint(join(folder, "nowhere", "x.ckpt")).open()).rejects.toThrow(/nowhere/);
  });

  it.each([undefined, 7, ""])("requires a path, and refuses %o", (other) => {
    expect(() => fileCheckpoint(other as never)).toThrow(
      new TypeError("fileCheckpoint takes the path of a file, as a string."),
    );
  });
});

describe("One run at a time", () => {
  it("a second run of the same process is refused, and can open after the first", async () => {
    const first = await fileCheckpoint(path).open();

    expect(await refusal()).toMatch(
      /^ConfigurationError: The checkpoint .*import\.ckpt is in use by process \d+ on .+\. One run at a time; if that process is gone, delete .*import\.ckpt\.lock-/,
    );
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

  it("a run gives up after eight attempts, at most 50 ms apart", async () => {
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

    expect(await second).toMatch(`in use by process ${process.pid} on `);
    await first.close();
  });

  it("the lock of another machine stands until a person deletes it", async () => {
    writeFileSync(`${path}.lock-1-1-00000000@another-machine`, "");
    // There is no wait.
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    expect(await refusal()).toMatch(
      /process 1 on another-machine\. One run at a time; if that process is gone, delete .*import\.ckpt\.lock-1-1-00000000@another-machine\.$/,
    );
    expect(readdirSync(folder).filter((name) => name.includes(".lock-"))).toHaveLength(1);
  });

  const here = encodeURIComponent(hostname());
  const layLock = (holder: string) => writeFileSync(`${path}.lock-${holder}-00000000@${here}`, "");

  it.each([
    ["a process that has ended", () => `${2 ** 22 + 1}-1`],
    ["a process that has ended, with an unknown start time", () => `${2 ** 22 + 1}-`],
    ["a process whose id now belongs to another one", () => `${process.pid}-1`],
  ])("the lock of %s is removed", async (_, holder) => {
    layLock(holder());
    // There is no wait.
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    await (await fileCheckpoint(path).open()).close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["a process that still runs", () => `${process.ppid}-${startOf(process.ppid)}`],
    ["a process that runs, with an unknown start time", () => `${process.ppid}-`],
  ])("the lock of %s is respected", async (_, holder) => {
    layLock(holder());

    expect(await refusal()).toMatch(
      `in use by process ${process.ppid} on ${encodeURIComponent(hostname())}. One run at a time`,
    );
    expect(readdirSync(folder).filter((name) => name.includes(".lock-"))).toHaveLength(1);
  });

  it("a process that may not be signalled counts as running", async () => {
    layLock(`${process.ppid}-`);
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });

    expect(await refusal()).toMatch(`in use by process ${process.ppid} on `);
  });

  it("a file that only resembles a lock is ignored and not deleted", async () => {
    const names = ["old-1-1-00000000@another-machine", "1-1@another-machine", "1-1-0000000@another-machine"];
    for (const name of names) writeFileSync(`${path}.lock-${name}`, "");

    await (await fileCheckpoint(path).open()).close();

    expect(readdirSync(folder)).toHaveLength(1 + names.length);
  });

  it("a deleted lock does not make its run fail", async () => {
    const open = await fileCheckpoint(path).open();
    for (const name of readdirSync(folder)) if (name.includes(".lock-")) rmSync(join(folder, name));

    await open.close();

    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("only one of many simultaneous runs takes over a stale lock", async () => {
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
  it("ends the run before a record is lost, and the next run resumes from the recorded rows", async () => {
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

    const full = await run("8");
    const recorded = await values(
      ...Array.from({ length: 100 }, (_, index) => `row:row-${index}@example.com`),
    );
    const succeeded = recorded.filter((value) => value?.startsWith("succeeded ")).length;
    const roomy = await run("unlimited");

    expect(full).toMatchObject({
      error: expect.stringMatching(/import\.ckpt cannot be written .*EFBIG.*the run stops/),
    });
    expect(succeeded).toBeGreaterThan(10);
    expect(full["sent"]).toBeGreaterThanOrEqual(succeeded);
    expect(full["sent"]).toBeLessThanOrEqual(succeeded + 10);
    expect(roomy).toMatchObject({ skipped: succeeded, succeeded: 100 - succeeded, total: 100 });
  });
});
