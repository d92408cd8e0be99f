import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";

it.each(["the folder", "a link to it"])(
  "the error for a checkpoint path that is a folder names the path and the remedy: by %s",
  async (by) => {
    const folder = mkdtempSync(join(tmpdir(), "audience-folder-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [path, link] = [join(folder, "import.ckpt"), join(folder, "link.ckpt")];
    mkdirSync(path);
    symlinkSync(path, link);

    const asked = by === "the folder" ? path : link;

    await expect(fileCheckpoint(asked).open()).rejects.toThrow(
      `The checkpoint ${asked} must be a file, not a folder. Name a file in it, or another file.`,
    );

    expect(readdirSync(folder).toSorted()).toEqual(["import.ckpt", "link.ckpt"]);
  },
);
