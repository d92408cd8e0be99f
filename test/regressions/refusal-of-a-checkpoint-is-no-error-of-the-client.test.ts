import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";

const heading = "audience-checkpoint 2\n";

it.each<[string, RegExp, (path: string) => unknown]>([
  ["in use by another run", /in use by process/, (path) => fileCheckpoint(path).open()],
  ["of another version", /another version/, (path) => writeFileSync(path, "audience-checkpoint 1\n")],
  ["no checkpoint", /is not a checkpoint/, (path) => writeFileSync(path, "email,name\n")],
  ["damaged", /damaged at line 2/, (path) => writeFileSync(path, `${heading}?\n`)],
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
    const mock = createMockService();
    const { bulk, v1 } = new AudienceClient(mock.clientOptions);
    const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }];
    const checkpoint = fileCheckpoint(path);

    const error = await failureOf(bulk(rows, (row, o) => v1.customers.upsert(row, o), { checkpoint }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: "configuration", outcome: "not-sent" });
    expect(error.message).toMatch(reason);
    expect(mock.requests).toEqual([]);
  },
);
