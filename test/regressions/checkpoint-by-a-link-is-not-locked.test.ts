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

describe("a link to a checkpoint names the same checkpoint", () => {
  it.each(["the file first", "the link first"])("one run at a time holds its lock: %s", async (order) => {
    await (await fileCheckpoint(path).open()).close();
    symlinkSync(path, link);
    const [first, second] = order === "the file first" ? [path, link] : [link, path];
    const open = await fileCheckpoint(first).open();

    await expect(fileCheckpoint(second).open()).rejects.toThrow(
      `The checkpoint ${path} is in use by process ${process.pid} on `,
    );

    await open.set("a", "succeeded");
    await open.close();
    const again = await fileCheckpoint(second).open();
    expect(again.get("a")).toEqual("succeeded");
    await again.close();
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

it("a missing folder is named, and not created", async () => {
  const missing = join(folder, "nowhere", "rows.ckpt");
  symlinkSync(missing, link);

  for (const asked of [missing, link]) {
    await expect(fileCheckpoint(asked).open()).rejects.toThrow(
      `The checkpoint ${asked} cannot be created: its folder does not exist. Create the folder first, or name another file.`,
    );
  }
  expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
});

it("a link to itself is refused with the system's message", async () => {
  symlinkSync(link, link);

  await expect(fileCheckpoint(link).open()).rejects.toMatchObject({ code: "ELOOP" });
});
