import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { failureOf } from "../transport/failure.ts";
import { createFixture, key as keyOfRow, rows } from "./fixture.ts";
import { importRow, importRows } from "./killed-import/rows.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  path = join(folder, "import.ckpt");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** Reads the entries of the file, and puts further ones: `a 1` is the line `1` of the name `a`. */
async function entriesAnd(...added: string[]): Promise<string[]> {
  const open = await fileCheckpoint(path).open();
  try {
    const entries: string[] = [];
    for await (const entry of open.entries) entries.push(entry.join(" "));
    for (const entry of added) {
      const [name = "", ...line] = entry.split(" ");
      await open.put(name, line.join(" "), { flush: false });
    }
    return entries;
  } finally {
    await open.close();
  }
}

/** A night of three rows. */
async function sendNight(): Promise<void> {
  const { audience, upsert } = createFixture();
  await audience.bulk(rows(3), upsert, { key: keyOfRow, checkpoint: fileCheckpoint(path) });
}

const heading = "audience-checkpoint 4\n";
const fileText = () => readFileSync(path, "latin1");

/** The error with which reading ends, as a string: undefined would match any error. */
const refusal = async () => String(await entriesAnd().catch((error: unknown) => error));

describe("A file checkpoint", () => {
  it("gives the newest line of each name", async () => {
    expect(await entriesAnd("a 1", "b 2 3")).toEqual([]);
    expect(await entriesAnd("a 4", "c ")).toEqual(["a 1", "b 2 3"]);

    expect((await entriesAnd()).sort()).toEqual(["a 4", "b 2 3", "c "]);
  });

  it("names its version, contains no key and no address, and is readable by its owner only", async () => {
    await sendNight();

    expect(fileText().slice(0, heading.length)).toBe(heading);
    expect(fileText()).not.toMatch(/example\.com|row-\d|mock-key/);
    expect(fileText()).toMatch(/^[\n\x20-\x7e]*$/);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("refuses a line that is put before its entries were read, and keeps what it holds", async () => {
    await entriesAnd("a 1");
    const open = await fileCheckpoint(path).open();

    await expect(open.put("a", "2", { flush: false })).rejects.toThrow(ConfigurationError);

    await open.close();
    expect(await entriesAnd()).toEqual(["a 1"]);
  });

  describe("that has grown to more than twice what counts", () => {
    const night = (city: number) => {
      const { audience, upsert } = createFixture();
      const changed = rows(10).map((row) => ({ ...row, city: `City ${city}` }));
      const options = { key: keyOfRow, checkpoint: fileCheckpoint(path), checkConsent: false };
      return audience.bulk(changed, upsert, options);
    };

    it.each([0o664, 0o600])(
      "is rewritten when it is opened, knows the same, and keeps its mode %o",
      async (mode) => {
        await night(0);
        chmodSync(path, mode);
        const sizes = [statSync(path).size];
        for (let city = 1; city < 6; city += 1) {
          expect(await night(city)).toMatchObject({ succeeded: 10 });
          sizes.push(statSync(path).size);
        }

        expect(Math.max(...sizes)).toBeLessThan(4 * sizes[0]!);
        expect(sizes.some((size, at) => size < sizes[at - 1]!)).toBe(true);
        expect(await night(5)).toMatchObject({ skipped: 10 });
        expect(statSync(path).mode & 0o7777).toBe(mode);
        expect(readdirSync(folder)).toEqual(["import.ckpt"]);
      },
    );

    it("is not rewritten where a line is damaged", async () => {
      await entriesAnd(...Array.from({ length: 9 }, (_, line) => `a ${line}`));
      appendFileSync(path, "?\n");
      const file = fileText();

      expect(await refusal()).toMatch(/import\.ckpt is damaged at line \d+,/);
      expect(fileText()).toBe(file);
      expect(readdirSync(folder)).toEqual(["import.ckpt"]);
    });
  });

  it("drops a line that a crash cut off at any byte, once a further line is put", async () => {
    await entriesAnd("a 1", "b 1");
    const file = fileText();
    const last = file.length - file.lastIndexOf("\n", file.length - 2) - 1;
    for (let left = 1; left < last; left++) {
      writeFileSync(path, file.slice(0, -left));

      expect(await entriesAnd()).toEqual(["a 1"]);
      expect(fileText()).toBe(file.slice(0, -left));
      await entriesAnd("c 1");
      expect(await entriesAnd()).toEqual(["a 1", "c 1"]);
    }
  });

  it("starts empty where a crash cut off its first line, because nothing was recorded", async () => {
    for (const length of [0, 1, 10, heading.length - 1]) {
      writeFileSync(path, heading.slice(0, length));

      expect(await entriesAnd("a 1")).toEqual([]);
      expect(await entriesAnd()).toEqual(["a 1"]);
    }
  });

  it.each([1, heading.length, 5_000])(
    "refuses %i zeros in place of all, as a loss of power may leave them, as they may have been lines",
    async (length) => {
      writeFileSync(path, Buffer.alloc(length));

      expect(await refusal()).toContain("is damaged at line 1, and is left unchanged");
      expect(readFileSync(path)).toEqual(Buffer.alloc(length));
    },
  );

  it("drops zero bytes at its end that a power failure left", async () => {
    await entriesAnd("a 1");
    appendFileSync(path, Buffer.alloc(40));

    expect(await entriesAnd("b 1")).toEqual(["a 1"]);
    expect(await entriesAnd()).toEqual(["a 1", "b 1"]);
  });

  it.each([0, 0xff, 0x20])(
    "refuses a file with a line that has a byte changed to %i, and does not change it",
    async (byte) => {
      await entriesAnd("a 1", "b 1", "c 1");
      const [first = "", second = "", third = ""] = fileText().split("\n");
      const begin = first.length + second.length + 2;
      const file = readFileSync(path);
      for (let at = begin; at <= begin + third.length; at++) {
        const bytes = Buffer.from(file);
        if (bytes[at] === byte) continue;
        bytes[at] = byte;
        writeFileSync(path, bytes);

        expect(await refusal()).toBe(
          `ConfigurationError: ${path} is damaged at line 3, and is left unchanged. Restore it. Another file sends every row again, and knows none of the refusals that this one holds.`,
        );
        expect(readFileSync(path)).toEqual(bytes);
      }
    },
  );

  it.each([
    ["those of the heading", 0, heading.length],
    ["some at its beginning", 0, 500],
    ["those of a line", heading.length, heading.length + 15],
  ])("refuses zeros before further lines, as damage: %s", async (_, begin, end) => {
    await entriesAnd(...rows(100).map(({ email }) => `${email} x`));
    const bytes = readFileSync(path).fill(0, begin, end);
    writeFileSync(path, bytes);

    expect(await refusal()).toMatch(/import\.ckpt is .* is left unchanged\./);
    expect(readFileSync(path)).toEqual(bytes);
  });

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
    ["2", 'audience-checkpoint 2\n["0123456789abcdef","1"]\n'],
    ["3", "audience-checkpoint 3\n"],
    ["20", "audience-checkpoint 20\n"],
  ])("refuses a file of version %s with the remedy, and does not change it", async (version, other) => {
    writeFileSync(path, other);

    expect(await refusal()).toBe(
      `ConfigurationError: ${path} is a checkpoint of another version (format ${version}, this one reads 4), and is left unchanged. ` +
        "End its run with the version of audience-sdk that wrote it. Another file sends every row once, and knows none of " +
        "the refusals that this one holds.",
    );
    expect(readFileSync(path, "utf8")).toBe(other);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte-order mark", (text: string) => `\u{feff}${text}`],
    ["CR alone", (text: string) => text.replaceAll("\n", "\r")],
  ])("refuses a file that an editor saved with %s as damaged, and does not change it", async (_, save) => {
    await entriesAnd("a 1");
    const saved = save(fileText());
    writeFileSync(path, saved);

    expect(await refusal()).toContain(`${path} is damaged at line 1, and is left unchanged.`);
    expect(readFileSync(path, "utf8")).toBe(saved);
  });

  it.each([undefined, 7, ""])("requires a path, and refuses %o", (other) => {
    expect(() => fileCheckpoint(other as never)).toThrow(
      new TypeError("fileCheckpoint takes the path of a file, as a string."),
    );
  });
});

describe("A file that another program changes while a run has it open", () => {
  it.each([
    ["deleted", () => rmSync(path)],
    ["moved", () => renameSync(path, `${path}.old`)],
    [
      "replaced by a copy",
      () => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ["emptied", () => truncateSync(path)],
    ["cut off by one byte", () => truncateSync(path, statSync(path).size - 1)],
  ])("ends the run before it sends or writes anything more: %s", async (_, change) => {
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
          left = JSON.stringify(files().filter(([name]) => !name?.endsWith(".lock")));
        }
      })(),
    );

    const error = await failure;
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/no longer has its checkpoint .+: the file was deleted, moved, replaced/);
    expect(mock.requests).toHaveLength(1);
    expect(JSON.stringify(files())).toBe(left);
  });
});

describe("A disk that is full", () => {
  it("ends the run before a record is lost, and the next run resumes from the recorded rows", async () => {
    const mock = createMockService();
    const server = await mock.listen({ port: 0 });
    onTestFinished(() => server.close());
    const { baseUrl, apiKey } = server.clientOptions;
    const program = join(folder, "import.mjs");
    await bundleProgram("test/bulk/killed-import/child.ts", program);
    // `ulimit -f` counts in blocks of 1,024 bytes: no file may grow beyond.
    const command = ["-c", 'ulimit -f 8; exec "$0" "$@"', process.execPath, program];

    const full = promisify(execFile)("bash", [...command, baseUrl, apiKey, path, "100", "10"]);

    await expect(full).rejects.toMatchObject({
      stderr: expect.stringMatching(/import\.ckpt cannot be written .*EFBIG.*the run stops/) as string,
    });
    const succeeded = (await entriesAnd()).filter((entry) => /^row:\S+ \["succeeded"/.test(entry)).length;
    expect(succeeded).toBeGreaterThan(10);
    expect(mock.requests.length).toBeGreaterThanOrEqual(succeeded);
    expect(mock.requests.length).toBeLessThanOrEqual(succeeded + 10);
    const audience = new AudienceClient({ baseUrl, apiKey, rateLimiter: false });
    const next = await audience.bulk(importRows(100), importRow, {
      key: ({ id }) => id,
      checkpoint: fileCheckpoint(path),
    });
    expect(next).toMatchObject({ skipped: succeeded, failed: 0, total: 100 });
    expect(next.succeeded + next.unknown).toBe(100 - succeeded);
    expect(next.unknown).toBeLessThanOrEqual(10);
  });
});

it.each<[string, RegExp, () => unknown]>([
  ["in use by another run", /is in use/, () => fileCheckpoint(path).open()],
  ["of another version", /another version/, () => writeFileSync(path, "audience-checkpoint 1\n")],
  ["no checkpoint", /is not a checkpoint/, () => writeFileSync(path, "email,name\n")],
  ["damaged", /damaged at line/, () => sendNight().then(() => appendFileSync(path, "?\n"))],
  ["a folder", /is a folder/, () => mkdirSync(path)],
  ["without its folder", /its folder does not exist/, () => rmSync(folder, { recursive: true })],
])(
  "A run whose checkpoint is %s rejects with a ConfigurationError, and sends nothing",
  async (_, reason, arrange) => {
    await arrange();
    const { audience, mock, upsert } = createFixture();

    const error = await failureOf(
      audience.bulk(rows(1), upsert, { key: keyOfRow, checkpoint: fileCheckpoint(path) }),
    );

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: "configuration", outcome: "not-sent" });
    expect(error.message).toMatch(reason);
    expect(mock.requests).toEqual([]);
  },
);

describe("The path of a file checkpoint", () => {
  let link: string;
  beforeEach(() => {
    folder = realpathSync(folder);
    mkdirSync(join(folder, "elsewhere"));
    path = join(folder, "elsewhere", "rows.ckpt");
    link = join(folder, "link.ckpt");
  });

  describe("A link to a checkpoint names the same checkpoint", () => {
    it.each(["the file first", "the link first"])("one run at a time holds its lock: %s", async (order) => {
      await (await fileCheckpoint(path).open()).close();
      symlinkSync(path, link);
      const [first, second] = order === "the file first" ? [path, link] : [link, path];
      const open = await fileCheckpoint(first).open();

      await expect(fileCheckpoint(second).open()).rejects.toThrow(
        `The checkpoint ${second} is in use: another process renews its lock ${path}.lock`,
      );

      await open.close();
      const { audience, upsert } = createFixture();
      const night = (name: string) =>
        audience.bulk(rows(1), upsert, { key: keyOfRow, checkpoint: fileCheckpoint(name) });
      expect([await night(first), await night(second)]).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
    });

    it("one run at a time holds the lock of a file that does not exist yet", async () => {
      symlinkSync(join("elsewhere", "rows.ckpt"), link);
      const open = await fileCheckpoint(link).open();

      await expect(fileCheckpoint(path).open()).rejects.toThrow("is in use");

      await open.close();
      expect(existsSync(path)).toBe(true);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
    });

    it("several links, and a folder that is a link, lead to the same lock", async () => {
      symlinkSync(join(folder, "elsewhere"), join(folder, "here"));
      symlinkSync(join(folder, "here", "rows.ckpt"), join(folder, "between.ckpt"));
      symlinkSync("between.ckpt", link);
      const open = await fileCheckpoint(link).open();

      for (const other of [path, join(folder, "here", "rows.ckpt"), join(folder, "between.ckpt")]) {
        await expect(fileCheckpoint(other).open()).rejects.toThrow(`renews its lock ${path}.lock`);
      }

      await open.close();
    });
  });

  it("A missing folder is named, and not created", async () => {
    const missing = join(folder, "nowhere", "rows.ckpt");
    symlinkSync(missing, link);

    for (const asked of [missing, link]) {
      await expect(fileCheckpoint(asked).open()).rejects.toThrow(
        `The checkpoint ${asked} cannot be created: its folder does not exist. Create the folder first, or name another file.`,
      );
    }
    expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
  });

  it("A link to itself is refused with the system's message", async () => {
    symlinkSync(link, link);

    await expect(fileCheckpoint(link).open()).rejects.toMatchObject({ code: "ELOOP" });
  });

  it.each([
    ["a folder", () => mkdirSync(path), "a folder"],
    ["a named pipe, without waiting for its other end", () => execFileSync("mkfifo", [path]), "a named pipe"],
  ])("What is %s is refused, by a link too, and untouched", async (_, make, kind) => {
    make();
    symlinkSync(path, link);

    for (const asked of [path, link]) {
      const opening = fileCheckpoint(asked).open();
      await expect(opening).rejects.toThrow(ConfigurationError);
      await expect(opening).rejects.toThrow(`${asked} is ${kind}, and no regular file.`);
    }

    expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
    expect(readdirSync(join(folder, "elsewhere"))).toEqual(["rows.ckpt"]);
  });
});
