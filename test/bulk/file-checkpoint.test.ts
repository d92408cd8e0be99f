import { spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { createFixture, key as keyOfRow, rows } from "./fixture.ts";

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

    it.each([0o664, 0o640, 0o600])("keeps its mode %o when it is rewritten", async (mode) => {
      await longFile(70_000);
      chmodSync(path, mode);

      await using(() => undefined);

      expect(statSync(path).size).toBeLessThan(1_000);
      expect(statSync(path).mode & 0o7777).toBe(mode);
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

  it.each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte-order mark", (text: string) => `\u{feff}${text}`],
    ["both", (text: string) => `\u{feff}${text.replaceAll("\n", "\r\n")}`],
    ["CRLF in a cut-off heading", () => heading.replace("\n", "\r")],
  ])("refuses a file that was saved with %s as what it is, and does not change it", async (_, save) => {
    await using((open) => void open.set("a", "1"));
    const saved = save(readFileSync(path, "latin1"));
    writeFileSync(path, saved);

    expect(await refusal()).toBe(
      `ConfigurationError: ${path} was changed by an editor, or by a transfer in text mode: its line ends are no longer ` +
        "single line feeds, or a byte-order mark stands before its first line. It is left unchanged. Restore it from a " +
        "copy, or convert it back, as dos2unix does.",
    );

    expect(readFileSync(path, "utf8")).toBe(saved);
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

describe("A file that another program changes while a run has it open", () => {
  it.each([
    ["deleted", () => rmSync(path), "the file was deleted, moved or replaced"],
    ["moved", () => renameSync(path, `${path}.old`), "the file was deleted, moved or replaced"],
    [
      "replaced by a copy",
      () => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
      "the file was deleted, moved or replaced",
    ],
    ["emptied", () => truncateSync(path), "the file was cut off by another program"],
    ["cut off by one byte", () => truncateSync(path, statSync(path).size - 1), "the file was cut off"],
  ])("ends the run before it sends or writes anything more: %s", async (_, change, problem) => {
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(rows(3), upsert, {
      key: keyOfRow,
      checkpoint: fileCheckpoint(path),
      concurrency: 1,
    });
    let left: string | undefined;
    const files = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]);

    const failure = failureOf(
      (async () => {
        for await (const _result of run) {
          change();
          left = JSON.stringify(files().filter(([name]) => !name?.includes(".lock-")));
        }
      })(),
    );

    const error = await failure;
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain(`The run no longer has its checkpoint ${path}: ${problem}`);
    expect(mock.requests).toHaveLength(1);
    expect(JSON.stringify(files())).toBe(left);
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
