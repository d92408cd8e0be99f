import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  csv,
  emailConsents,
  run,
  runAlone,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

describe("A file with --encoding", () => {
  it.each([
    ["utf8", "Zoë"],
    ["latin1", "Zoë"],
  ] as const)(
    "is decoded by the first letter beyond ASCII, however late it comes: %s",
    async (bytes, name) => {
      const mock = await service();
      const folder = await temporaryFolder();
      const path = join(folder, "people.csv");
      const blank = ",,\n".repeat(30_000);
      await writeFile(path, `Email,First Name,Newsletter\n${blank}a@example.com,${name},yes\n`, bytes);

      await run([path, "--encoding", "windows-1252"]);

      expect(sentBodies(mock)).toMatchObject([{ first_name: name }]);
    },
  );
});

describe("A person in several files and rows has the strictest consent of all", () => {
  const files: Record<string, string[]> = {
    "subscribed_a.csv": [
      "Email Address,First Name,LEID",
      "ada@example.com,Ada,1",
      "bo@example.com,Bo,2",
      "cy@example.com,Cy,3",
    ],
    "unsubscribed_a.csv": ["Email Address,First Name,UNSUB_TIME,LEID", "ADA@Example.com,Ada,2024-01-01,1"],
    "cleaned_a.csv": ["Email Address,First Name,CLEAN_TIME,LEID", "bo@example.com,Bo,2024-01-01,2"],
    "klaviyo.csv": [
      "Email,Email Marketing Consent,Klaviyo ID",
      "cy@example.com,SUBSCRIBED,1",
      " cy@example.com ,UNSUBSCRIBED,2",
    ],
  };
  const names = Object.keys(files);

  it.each([[names], [names.toReversed()]])("read in the order %j", async (order) => {
    const mock = await service();
    const folder = await temporaryFolder();
    const paths: string[] = [];
    for (const name of order) paths.push(await csv(folder, name, ...(files[name] ?? [])));

    const { code } = await runAlone(paths);

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({
      "ada@example.com": "UNSUBSCRIBED",
      "bo@example.com": "NON_SUBSCRIBED",
      "cy@example.com": "UNSUBSCRIBED",
    });
  });
});
