import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createFixture, key, rows } from "./fixture.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "checkpoint-")));
  path = join(folder, "import.ckpt");
  onTestFinished(() => rmSync(folder, { recursive: true }));
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

const heading = "audience-checkpoint 4\n";
const fileText = () => readFileSync(path, "latin1");

/** The error with which reading ends, as a string: undefined would match any error. */
const refusal = async () => String(await entriesAnd().catch((error: unknown) => error));

/** A night of ten rows. */
function sendNight(city: number) {
  const { audience, upsert } = createFixture();
  const changed = rows(10).map((row) => ({ ...row, city: `City ${city}` }));
  const options = { key, checkpoint: fileCheckpoint(path), checkConsent: false };
  return audience.bulk(changed, upsert, options);
}

describe("A file checkpoint", () => {
  it("gives the newest line of each name", async () => {
    expect(await entriesAnd("a 1", "b 2 3")).toEqual([]);
    expect(await entriesAnd("a 4", "c ")).toEqual(["a 1", "b 2 3"]);

    expect((await entriesAnd()).sort()).toEqual(["a 4", "b 2 3", "c "]);
  });

  it("names its version, contains no key and no address, and is readable by its owner only", async () => {
    await sendNight(0);

    expect(fileText().slice(0, heading.length)).toBe(heading);
    expect(fileText()).not.toMatch(/example\.com|row-\d|mock-key/);
    expect(fileText()).toMatch(/^[\n\x20-\x7e]*$/);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("says that its entries must be read before the first `put` or `clear`, and keeps what it holds", async () => {
    await entriesAnd("a 1");
    const open = await fileCheckpoint(path).open();

    for (const early of [open.put("a", "2", { flush: false }), open.clear()])
      await expect(early).rejects.toThrow(
        new TypeError("The `entries` of a checkpoint must be read before its first `put` or `clear`."),
      );

    await open.close();
    expect(await entriesAnd()).toEqual(["a 1"]);
  });

  it("is rewritten when it is opened and most of it is out of date, knows the same, and keeps its mode", async () => {
    await sendNight(0);
    chmodSync(path, 0o664);
    const sizes = [statSync(path).size];
    for (let city = 1; city < 6; city += 1) {
      expect(await sendNight(city)).toMatchObject({ succeeded: 10 });
      sizes.push(statSync(path).size);
    }

    expect(Math.max(...sizes)).toBeLessThan(4 * sizes[0]!);
    expect(sizes.some((size, at) => size < sizes[at - 1]!)).toBe(true);
    expect(await sendNight(5)).toMatchObject({ skipped: 10 });
    expect(statSync(path).mode & 0o7777).toBe(0o664);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it.each([
    [undefined, "undefined"],
    [7, "a number"],
    ["", "an empty string"],
  ])("requires a path, and refuses %o", (other, given) => {
    const message = `The path of fileCheckpoint must be a string that is not empty, not ${given}.`;

    expect(() => fileCheckpoint(other as never)).toThrow(new ConfigurationError(message));
  });
});

describe("What a crash leaves behind is dropped", () => {
  it("a line that was cut off at any byte, once a further line is put", async () => {
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

  it("a first line that was cut off: nothing was recorded", async () => {
    for (const length of [0, 1, 10, heading.length - 1]) {
      writeFileSync(path, heading.slice(0, length));

      expect(await entriesAnd("a 1")).toEqual([]);
      expect(await entriesAnd()).toEqual(["a 1"]);
    }
  });

  it("zero bytes at its end, as of a loss of power", async () => {
    await entriesAnd("a 1");
    appendFileSync(path, Buffer.alloc(40));

    expect(await entriesAnd("b 1")).toEqual(["a 1"]);
    expect(await entriesAnd()).toEqual(["a 1", "b 1"]);
  });
});

const zeros = (length: number) => "\0".repeat(length);
const isDamaged = (line: number) =>
  `is damaged at line ${line}, and is left unchanged. Restore it. Another file sends every row again, and knows none of ` +
  "the refusals that this one holds.";
const isAnother = "is not a checkpoint, and is left unchanged. Name another file.";
const isOfVersion = (version: number) =>
  `is a checkpoint of another version (format ${version}, this one reads 4), and is left unchanged. End its run with the ` +
  "version of audience-sdk that wrote it. Another file sends every row once, and knows none of the refusals that this one holds.";

describe("A file is refused, and left unchanged, that", () => {
  it.each([0, 0xff, 0x20])("has a byte of a line changed to %i", async (byte) => {
    await entriesAnd("a 1", "b 1", "c 1");
    const [first = "", second = "", third = ""] = fileText().split("\n");
    const begin = first.length + second.length + 2;
    const file = readFileSync(path);
    for (let at = begin; at <= begin + third.length; at++) {
      const bytes = Buffer.from(file);
      if (bytes[at] === byte) continue;
      bytes[at] = byte;
      writeFileSync(path, bytes);

      expect(await refusal()).toBe(`ConfigurationError: ${path} ${isDamaged(3)}`);
      expect(readFileSync(path)).toEqual(bytes);
    }
  });

  it.each<[string, (whole: string) => string, string]>([
    ["is a zero, which may have been a line", () => zeros(1), isDamaged(1)],
    ["is zeros alone", () => zeros(5_000), isDamaged(1)],
    ["has zeros in place of its heading", (whole) => zeros(22) + whole.slice(22), isAnother],
    ["has zeros at its beginning", (whole) => zeros(25) + whole.slice(25), isAnother],
    ["has zeros in a line", (whole) => whole.slice(0, 22) + zeros(8) + whole.slice(30), isDamaged(2)],
    ["has an empty line", (whole) => whole.replace("\n", "\n\n"), isDamaged(2)],
    ["has a line of something else", (whole) => `${whole}?\n`, isDamaged(4)],
    ["an editor saved with CRLF", (whole) => whole.replaceAll("\n", "\r\n"), isDamaged(1)],
    ["an editor saved with CR", (whole) => whole.replaceAll("\n", "\r"), isDamaged(1)],
    ["an editor saved with a byte-order mark", (whole) => `\u{feff}${whole}`, isDamaged(1)],
    ["is a table", () => "email,first_name\nada@example.com,Ada\n", isAnother],
    ["is one line", () => "email\n", isAnother],
    ["has no line end", () => `email${zeros(20)}`, isAnother],
    ["has characters before the heading", (whole) => `x${whole}`, isAnother],
    ["has a heading without a version", () => "audience-checkpoint x\n", isAnother],
    ["is of version 2", () => 'audience-checkpoint 2\n["0123456789abcdef","1"]\n', isOfVersion(2)],
    ["is of version 20", () => "audience-checkpoint 20\n", isOfVersion(20)],
  ])("%s", async (_, change, reason) => {
    await entriesAnd("a 1", "b 1");
    const changed = change(fileText());
    writeFileSync(path, changed);

    expect(await refusal()).toBe(`ConfigurationError: ${path} ${reason}`);
    expect(readFileSync(path, "utf8")).toBe(changed);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });
});

describe("A link to a checkpoint names the same checkpoint", () => {
  const link = () => join(folder, "link.ckpt");
  beforeEach(() => {
    mkdirSync(join(folder, "elsewhere"));
    path = join(folder, "elsewhere", "rows.ckpt");
  });

  it.each(["path", "link", "between", "here"] as const)(
    "one run at a time holds its lock, and the next one continues, opened first by its %s",
    async (first) => {
      const here = join(folder, "here", "rows.ckpt");
      const names = { path, link: link(), between: join(folder, "between.ckpt"), here };
      symlinkSync(join(folder, "elsewhere"), join(folder, "here"));
      symlinkSync(here, names.between);
      symlinkSync("between.ckpt", names.link);
      // It does not exist yet.
      const open = await fileCheckpoint(names[first]).open();

      for (const other of Object.values(names))
        await expect(fileCheckpoint(other).open()).rejects.toThrow(
          `The checkpoint ${other} is in use: another process renews its lock ${path}.lock`,
        );

      await open.close();
      expect([existsSync(path), lstatSync(link()).isSymbolicLink()]).toEqual([true, true]);
      const { audience, upsert } = createFixture();
      const night = (name: string) =>
        audience.bulk(rows(1), upsert, { key, checkpoint: fileCheckpoint(name) });
      expect(await night(names[first])).toMatchObject({ succeeded: 1 });
      for (const name of Object.values(names)) expect(await night(name)).toMatchObject({ skipped: 1 });
    },
  );

  it("a missing folder is named, and not created", async () => {
    const missing = join(folder, "nowhere", "rows.ckpt");
    symlinkSync(missing, link());

    for (const asked of [missing, link()])
      await expect(fileCheckpoint(asked).open()).rejects.toThrow(
        `The checkpoint ${asked} cannot be read or written (ENOENT`,
      );
    expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
  });

  it("a link to itself is refused with the system's message", async () => {
    symlinkSync(link(), link());

    const opening = fileCheckpoint(link()).open();

    await expect(opening).rejects.toThrow(ConfigurationError);
    await expect(opening).rejects.toThrow(/cannot be read or written \(ELOOP.+\)\. Mend the cause/);
  });
});
