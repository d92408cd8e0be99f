import { spawn } from "node:child_process";
import {
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
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

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
    expect(readFileSync(path, "utf8")).not.toContain("ada");
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("keeps any number of keys apart", async () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => `row ${index}`);
    const stateOf = (index: number) => (index % 100 === 0 ? "in-doubt" : "succeeded");
    await using((open) => keys.forEach((key, index) => void open.record(key, stateOf(index))));

    expect(await states(...keys)).toEqual(keys.map((_, index) => stateOf(index)));
    expect(await states("row 5000")).toEqual([undefined]);
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
  });

  it("drops room that a machine without power left empty", async () => {
    await using((open) => void open.record("a", "succeeded"));
    appendFileSync(path, Buffer.alloc(40));

    expect(await states("a")).toEqual(["succeeded"]);
    await using((open) => void open.record("b", "succeeded"));
    expect(await states("a", "b")).toEqual(["succeeded", "succeeded"]);
  });

  it("refuses a file that is damaged in the middle, and leaves it as it is", async () => {
    await using((open) => ["a", "b", "c"].forEach((key) => void open.record(key, "succeeded")));
    const bytes = readFileSync(path);
    bytes[59 + 18 + 5] = 0x20;
    writeFileSync(path, bytes);

    await expect(fileCheckpoint(path).open()).rejects.toThrow(/import\.ckpt is damaged at byte 77/);
    expect(readFileSync(path)).toEqual(bytes);
  });

  it("refuses a file that is something else, and leaves it as it is", async () => {
    const other = "email,first_name\nada@example.com,Ada\n".repeat(3);
    writeFileSync(path, other);

    await expect(fileCheckpoint(path).open()).rejects.toThrow(/import\.ckpt is not a checkpoint/);
    expect(readFileSync(path, "utf8")).toBe(other);
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("says which folder is not there", async () => {
    await expect(fileCheckpoint(join(folder, "nowhere", "x.ckpt")).open()).rejects.toThrow(/nowhere/);
    expect(() => fileCheckpoint(undefined as never)).toThrow(/path/);
  });
});

describe("One run at a time", () => {
  it("a second of the same process is refused, and comes in when the first is over", async () => {
    const first = await fileCheckpoint(path).open();

    await expect(fileCheckpoint(path).open()).rejects.toThrow(/in use by another run of this process/);
    await first.close();

    await (await fileCheckpoint(path).open()).close();
    expect(readdirSync(folder)).toEqual(["import.ckpt"]);
  });

  it("a process on another machine is not judged: its lock stands until somebody deletes it", async () => {
    writeFileSync(`${path}.lock-1-1-00000000@another-machine`, "");

    await expect(fileCheckpoint(path).open()).rejects.toThrow(
      /process 1 on another-machine.*delete .*another-machine/,
    );
  });

  it.each([
    ["a process that is gone", () => `${2 ** 22 + 1}-1`],
    ["a process whose id another one has now", () => `${process.pid}-1`],
  ])("the lock of %s is cleared away", async (_, holder) => {
    writeFileSync(`${path}.lock-${holder()}-00000000@${encodeURIComponent(hostname())}`, "");

    await (await fileCheckpoint(path).open()).close();

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
  }, 20_000);
});
