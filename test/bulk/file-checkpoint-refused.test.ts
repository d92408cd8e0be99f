import { mkdirSync, mkdtempSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { createFixture, key, rows } from "./fixture.ts";

/** Damages the file that a night has left. */
async function recordedAnd(path: string, damage: () => void) {
  const { audience, upsert } = createFixture();
  await audience.bulk(rows(2), upsert, { key, checkpoint: fileCheckpoint(path) });
  damage();
}

it.each<[string, RegExp, (path: string) => unknown]>([
  ["in use by another run", /in use by process/, (path) => fileCheckpoint(path).open()],
  ["of another version", /another version/, (path) => writeFileSync(path, "audience-checkpoint 1\n")],
  ["no checkpoint", /is not a checkpoint/, (path) => writeFileSync(path, "email,name\n")],
  ["damaged", /damaged at line/, (path) => recordedAnd(path, () => appendFileSync(path, "?\n"))],
  ["a folder", /must be a file/, (path) => mkdirSync(path)],
  [
    "without its folder",
    /its folder does not exist/,
    (path) => rmSync(join(path, ".."), { recursive: true }),
  ],
])(
  "A run whose checkpoint is %s rejects with a ConfigurationError, and sends nothing",
  async (_, reason, arrange) => {
    const folder = mkdtempSync(join(tmpdir(), "audience-refused-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "import.ckpt");
    await arrange(path);
    const { audience, mock, upsert } = createFixture();

    const error = await failureOf(audience.bulk(rows(1), upsert, { key, checkpoint: fileCheckpoint(path) }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: "configuration", outcome: "not-sent" });
    expect(error.message).toMatch(reason);
    expect(mock.requests).toEqual([]);
  },
);
