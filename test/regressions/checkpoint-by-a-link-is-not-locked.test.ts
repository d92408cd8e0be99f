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

describe("a link to a checkpoint is the checkpoint", () => {
  it.each(["the file first", "the link first"])("one run at a time has it: %s", async (order) => {
    await (await fileCheckpoint(path).open()).close();
    symlinkSync(path, link);
    const [first, second] = order === "the file first" ? [path, link] : [link, path];
    const open = await fileCheckpoint(first).open();

    await expect(fileCheckpoint(second).open()).rejects.toThrow(
      `The checkpoint ${path} is in use by another run of this process.`,
    );

    await open.set("a", { state: "succeeded" });
    await open.close();
    const again = await fileCheckpoint(second).open();
    expect(again.get("a")).toEqual({ state: "succeeded" });
    await again.close();
  });

  it("also where the file that it leads to is not there yet", async () => {
    symlinkSync(join("elsewhere", "rows.ckpt"), link);
    const open = await fileCheckpoint(link).open();

    await expect(fileCheckpoint(path).open()).rejects.toThrow("is in use by another run of this process.");

    await open.close();
    expect(existsSync(path)).toBe(true);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it("also over several links, and through a folder that is one", async () => {
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

it("a folder that is not there is named, and not made", async () => {
  const missing = join(folder, "nowhere", "rows.ckpt");
  symlinkSync(missing, link);

  for (const asked of [missing, link]) {
    await expect(fileCheckpoint(asked).open()).rejects.toThrow(
      `The checkpoint ${missing} cannot be made: its folder does not exist. Make the folder first, or name another file.`,
    );
  }
  expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "link.ckpt"]);
});

it("a link that leads to itself is refused in the system's words", async () => {
  symlinkSync(link, link);

  await expect(fileCheckpoint(link).open()).rejects.toMatchObject({ code: "ELOOP" });
});
