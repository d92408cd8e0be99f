import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { csv, emailConsents, list, runAlone, service, temporaryFolder } from "./importer-fixture.ts";
import { type Table, tables } from "./importer-tables.ts";

const states = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED", "-": undefined } as const;

const written = async ({ file = "people.csv", headings, rows }: Table) =>
  await csv(await temporaryFolder(), file, headings, ...rows.map(([row]) => row));

interface Written {
  version: number;
  columns: Record<string, unknown>;
}

describe("The true consent of each person arrives", () => {
  it.each(tables)("from $tool", async (table) => {
    const mock = await service();
    const path = await written(table);

    const first = await runAlone([path, "--list", list.id]);
    // Safe: the importer has written it.
    const map = JSON.parse(await readFile(`${path}.map.json`, "utf8")) as Written;
    const open = Object.keys(map.columns).filter((name) => map.columns[name] === "?");
    await writeFile(
      `${path}.map.json`,
      JSON.stringify({ ...map, columns: { ...map.columns, ...table.asked } }),
    );
    if (open.length > 0) await runAlone([path, "--list", list.id]);

    expect(open).toEqual(Object.keys(table.asked));
    expect(first.code === 2).toBe(open.length > 0);
    const people = table.rows.map(([row, consent]) => [
      /\w+@example\.com/.exec(row)?.[0] ?? "",
      states[consent],
    ]);
    expect(emailConsents(mock)).toEqual(
      Object.fromEntries(people.filter(([, consent]) => consent !== undefined)),
    );
  });
});
