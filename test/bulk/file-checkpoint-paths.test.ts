import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createFixture, key, rows } from "./fixture.ts";

let folder: string;
let path: string;
let link: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "audience-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
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
      `The checkpoint ${path} is in use by process ${process.pid} on `,
    );

    await open.close();
    const { audience, upsert } = createFixture();
    const night = (name: string) => audience.bulk(rows(1), upsert, { key, checkpoint: fileCheckpoint(name) });
    expect([await night(first), await night(second)]).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
  });

  it("one run at a time holds the lock of a file that does not exist yet", async () => {
    symlinkSync(join("elsewhere", "rows.ckpt"), link);
    const open = await fileCheckpoint(link).open();

    await expect(fileCheckpoint(path).open()).rejects.toThrow(`is in use by process ${process.pid} on `);

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
      await expect(fileCheckpoint(other).open()).rejects.toThrow(`The checkpoint ${path} is in use`);
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

it.each(["the folder", "a link to it"])(
  "The error for a checkpoint path that is a folder names the path and the remedy: by %s",
  async (by) => {
    mkdirSync(path);
    symlinkSync(path, link);

    const asked = by === "the folder" ? path : link;

    await expect(fileCheckpoint(asked).open()).rejects.toThrow(
      `The checkpoint ${asked} must be a file, not a folder. Name a file in it, or another file.`,
    );

    expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
  },
);
