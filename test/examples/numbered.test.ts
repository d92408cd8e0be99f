import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { repository } from "../project/source-files.ts";

const folder = join(repository, "examples");
const programs = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const read = (name: string) => readFileSync(join(folder, name), "utf8");

/** The lines of a program's documented output, each in a comment that begins with `//=>`. */
const promised = (name: string) => [...read(name).matchAll(/^\s*\/\/=> (.*)$/gm)].map(([, line]) => line);

describe("The numbered examples", () => {
  it("are numbered from 01, without a gap", () => {
    const numbers = programs.map((name) => /^(\d\d)-[a-z0-9-]+\.ts$/.exec(name)?.[1]);
    expect(numbers).toEqual(programs.map((_, at) => String(at + 1).padStart(2, "0")));
  });

  it("each contain the command that starts them", () => {
    for (const name of programs) expect(read(name)).toContain(`\n// npx tsx examples/${name}\n`);
  });

  it("are listed in their order", () => {
    const listed = [...read("README.md").matchAll(/\((\d\d-[^)]+)\)/g)].map(([, name]) => name);
    expect(listed).toEqual(programs);
  });

  it.each(programs)("%s prints its documented output", async (name) => {
    const printed: string[] = [];
    vi.spyOn(console, "log").mockImplementation((...values) => {
      printed.push(...format(...values).split("\n"));
    });
    // Each is a separate program and needs an unused limiter.
    Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limiters"));

    await import(join(folder, name));

    expect(promised(name)).not.toEqual([]);
    expect(printed).toEqual(promised(name));
  });
});
