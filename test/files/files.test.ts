import { execFile, execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { openSnapshot, readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { MockCommand, stop } from "../mock/mock-command.ts";
import { createAudience, linesOf, temporaryFolder } from "../snapshot/fixture.ts";

const mockCommand = new MockCommand();

const readCheckpoint = async (file: string) => {
  const open = await fileCheckpoint(file).open();
  try {
    for await (const _ of open.entries) continue;
  } finally {
    await open.close();
  }
};
const read = async (file: string) => (await readSnapshot(createAudience(1).audience, { file })).close();
const openAgain = async (file: string) => (await openSnapshot(file)).close();
/** The error of the command, as that of a call. */
const command = (option: string) => async (file: string) => {
  const { code, errors } = await mockCommand.run("--port", "0", option, file);
  if (code !== 0) throw new Error(errors);
};

const users = [
  ["a checkpoint", readCheckpoint],
  ["a snapshot that is read", read],
  ["a snapshot that is opened", openAgain],
  ["a saved state", command("--state")],
  ["an environment", command("--env")],
] as const;

describe.each(users)("What is no regular file is refused as %s, by a link too, and untouched", (_, use) => {
  it.each<[string, (path: string) => unknown, string]>([
    ["a device", (path) => symlinkSync("/dev/null", path), "a link, a pipe or a device"],
    [
      "a named pipe, without waiting for its other end",
      (path) => execFileSync("mkfifo", [path]),
      "a link, a pipe or a device",
    ],
    ["a folder", (path) => mkdirSync(path), "a folder"],
  ])("%s", async (__, make, kind) => {
    const folder = temporaryFolder();
    const [path, link] = [join(folder, "theirs"), join(folder, "link")];
    make(path);
    symlinkSync(path, link);

    for (const asked of [path, link])
      await expect(use(asked)).rejects.toThrow(`is ${kind}, and no regular file`);

    expect(readdirSync(folder).toSorted()).toEqual(["link", "theirs"]);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });
});

it.each([
  ["a link at the temporary name .part", ".part", (path: string) => symlinkSync("victim", path)],
  ["a link in place of its lock", ".lock", (path: string) => symlinkSync("victim", path)],
  ["a folder in place of its lock", ".lock", (path: string) => mkdirSync(path)],
])("A snapshot does not follow %s", async (_, ending, make) => {
  const { audience, file, folder, mock } = createAudience(1);
  const victim = join(folder, "victim");
  writeFileSync(victim, "theirs");
  make(file + ending);

  const reading = readSnapshot(audience, { file });

  await expect(reading).rejects.toThrow(ConfigurationError);
  await expect(reading).rejects.toThrow(
    /^The snapshot cannot be used: .+, and no regular file. It is left unchanged/,
  );
  expect(readFileSync(victim, "utf8")).toBe("theirs");
  expect(mock.requests).toEqual([]);
});

it.each([
  ["checkpoint", readCheckpoint, "is not a checkpoint"],
  ["snapshot", openAgain, "is not a snapshot"],
])("A %s without a line end is refused once 1 MB of it was read", async (_, use, reason) => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "x");
  // To read it whole would take an hour.
  truncateSync(file, 2 ** 36);

  await expect(use(file)).rejects.toThrow(reason);

  expect(statSync(file).size).toBe(2 ** 36);
});

it("A contact that takes more than 1 MB is refused before it is written, with the way out", async () => {
  const { client, file } = createAudience(0);
  const data = [{ id: "1", custom_properties: { long: "x".repeat(2 ** 20) } }];
  const audience = client({ fetch: async () => Response.json({ data }) });

  await expect(readSnapshot(audience, { file, fields: "all" })).rejects.toThrow(
    'The contact 1 takes more than 1 MB, which no line of a snapshot may have. Read it with `fields: "consent"`.',
  );
  using today = await readSnapshot(audience, { file });

  expect(today.size).toBe(1);
});

describe("A write that the disk takes in part replaces no good file", () => {
  // `ulimit -f` counts in blocks of 1,024 bytes: the write that passes it is cut off, and only the next one fails.
  const limited = (program: readonly string[]) =>
    promisify(execFile)("bash", ["-c", 'ulimit -f 8; exec "$0" "$@"', process.execPath, ...program]);

  async function child(): Promise<string> {
    const program = join(temporaryFolder(), "child.mjs");
    await bundleProgram("test/files/child.ts", program);
    return program;
  }

  it("a checkpoint that is rewritten, and then takes no line", async () => {
    const file = join(temporaryFolder(), "rows.ckpt");
    const open = await fileCheckpoint(file).open();
    for await (const _ of open.entries) continue;
    // So grown it is rewritten when it is opened, and the new file would pass the limit.
    for (let line = 0; line < 1_500; line++)
      await open.put(`row:${line % 500}`, String(line), { flush: false });
    await open.close();
    const before = readFileSync(file, "utf8");

    await expect(limited([await child(), "checkpoint", file])).rejects.toThrow("EFBIG");

    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(dirname(file)).toSorted()).toEqual(["rows.ckpt", "rows.ckpt.lock"]);
  });

  it("a snapshot that is finished", async () => {
    const { audience, file, folder } = createAudience(200);
    (await readSnapshot(audience, { file })).close();
    const [heading, ...contacts] = linesOf(file);
    const page = { page: 2, total: 200, isLast: true };
    const work = [{ ...heading, readAt: new Date().toISOString() }, ...contacts, page];
    writeFileSync(`${file}.part`, work.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const before = readFileSync(file, "utf8");

    await expect(limited([await child(), "snapshot", file])).rejects.toThrow("EFBIG");

    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(folder).toSorted()).toEqual(["audience.ndjson", "audience.ndjson.part"]);
  });

  it("a saved state", async () => {
    const file = mockCommand.path("state.json");
    const mock = await mockCommand.serveByProcess("--state", file);
    await stop(mock);
    const before = readFileSync(file, "utf8");
    const organizations = Array.from({ length: 200 }, (_, index) => ({
      id: `organization-${index}`,
      apiKeys: [`key-${index}`],
      appId: `app-${index}`,
    }));
    const own = { id: "mock-organization", apiKeys: ["k"], appId: "a" };
    const seed = await mockCommand.write("seed.json", JSON.stringify([own, ...organizations]));

    const failing = limited([
      join(mockCommand.folder, "cli.mjs"),
      "--port",
      "0",
      "--state",
      file,
      "--seed",
      seed,
    ]);

    await expect(failing).rejects.toThrow("EFBIG");
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});
