import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { compile, ownCompiler, projects, someProjects } from "../package/compile.ts";
import { fileSizes } from "../package/installation.ts";
import { runNode, runProgram } from "../package/programs.ts";
import { pnpm } from "./setup.ts";

/** A user's program: nested and extended schemas of the user and of the package, and their types. */
const mixing = `
import * as z from "zod";
import { AudienceClient } from "audience-sdk";
import { LIMITS, v1ContactFieldsSchema, v1ContactSchema, v1EventSchema, v2ContactSchema, type V1Contact } from "audience-sdk/schemas";

const signUp = z.object({ contact: v1ContactSchema, source: z.string() });
const paying = v1ContactFieldsSchema.extend({ plan: z.enum(["free", "paid"]) });
export const all: z.ZodType[] = [signUp, paying, v1ContactFieldsSchema.pick({ email: true }), v2ContactSchema];
export const either = z.union([z.array(v1EventSchema), v1ContactSchema.optional()]);

export async function send(audience: AudienceClient, body: unknown): Promise<string> {
  const { contact, source } = signUp.parse(body);
  const given: V1Contact = contact;
  const { id } = await audience.v1.customers.upsert({ ...given, source });
  const plan: "free" | "paid" = paying.parse(body).plan;
  return [id, plan, LIMITS.first_name.maxLength].join();
}

export function problems(body: unknown): string[] {
  const { error } = v1ContactSchema.safeParse(body);
  return error === undefined ? [] : error.issues.map(({ path, message }) => path.join(".") + message);
}

// @ts-expect-error a name of a contact is a string
export const wrong: z.input<typeof signUp> = { contact: { first_name: 1 }, source: "form" };
`;

// Up to 4.3 a locale applies to only one copy of zod.
const missing: Record<string, string[]> = {
  "4.0.0": ["the JSON schema that theirs makes of ours", "the language that theirs is set to"],
  "~4.1.0": ["the language that theirs is set to"],
};

describe.each(inject("withZod"))("Beside zod $version of the user's own", ({ version, folder }) => {
  it("npm installs the package without a second zod", () => {
    const manifests = [...fileSizes(join(folder, "node_modules")).keys()].filter((path) =>
      /^(.*node_modules\/)?[^/.]+\/package\.json$/.test(path),
    );

    expect(manifests.sort()).toEqual(["audience-sdk/package.json", "zod/package.json"]);
  });

  it.each(someProjects)(
    "a program that mixes them compiles under $resolver, with $runtime",
    async (project) => {
      const { exitCode, stdout } = await compile(ownCompiler, project, folder, mixing);

      expect(exitCode, stdout).toBe(0);
    },
  );

  it.each([
    ["import", "zod", "audience-sdk/schemas"],
    ["import", "audience-sdk/schemas", "zod"],
    ["require", "zod", "audience-sdk/schemas"],
    ["require", "audience-sdk/schemas", "zod"],
  ])("schemas of the user and of the package mix, by %s, with %s loaded first", async (...args) => {
    const { stdout, stderr } = await runNode(folder, "mixing.mjs", ...args);
    const promises: Record<string, boolean> = JSON.parse(stdout);

    expect(stderr).toBe("");
    expect(Object.keys(promises).length).toBeGreaterThan(10);
    expect(Object.keys(promises).filter((name) => !promises[name])).toEqual(missing[version] ?? []);
  });
});

describe("Installed by pnpm, with an older zod that the user adds later", () => {
  const { version, folder } = inject("withPnpm");
  /** pnpm puts what a package depends on beside it. */
  const zodBeside = (name: string) => {
    const path = join(realpathSync(join(folder, "node_modules", name)), "../zod/package.json");
    const read: { version: string } = JSON.parse(readFileSync(path, "utf8"));
    return read.version;
  };

  it.each(["import", "require"])(
    "the schemas of both mix, by %s, though each has its zod",
    async (format) => {
      const { stdout, stderr } = await runNode(folder, "mixing.mjs", format, "zod", "audience-sdk/schemas");
      const promises: Record<string, boolean> = JSON.parse(stdout);

      expect(stderr).toBe("");
      expect(zodBeside("audience-sdk")).not.toBe(version);
      expect(Object.keys(promises).filter((name) => !promises[name])).toEqual(missing[version]);
    },
  );

  it("pnpm dedupe leaves one, so that a program that mixes them compiles", async () => {
    await pnpm(folder, "dedupe");
    const { exitCode, stdout } = await compile(ownCompiler, someProjects[0]!, folder, mixing);

    expect(exitCode, stdout).toBe(0);
    expect(zodBeside("audience-sdk")).toBe(version);
  });
});

it("The oldest tested zod is the oldest that the package allows", () => {
  expect(manifest.dependencies).toEqual({ zod: `^${inject("withZod")[0]?.version}` });
});

/** A user's test set-up. msw's own declarations need the types of the web. */
const handlers = `
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";

export const server = setupServer(...mswHandlers(createMockService()), http.get("https://other.test", () => HttpResponse.text("")));
`;
// msw 3 consists of ES modules, which CommonJS can load under nodenext, and not under node16.
const webProjects = projects.filter(
  ({ resolver, runtime }) => resolver === "nodenext" && runtime === "the web's own types",
);

describe.each(inject("withMsw"))("Beside msw $version", ({ version, folder }) => {
  it.each(["import", "require"])("a client is served by the mock's handlers, by %s", async (format) => {
    // msw 3 needs Node 22.
    const node = version.startsWith("^3") ? ["--package=node@22"] : [];
    const run = ["exec", "--yes", ...node, "--", "node", "msw.mjs", format];
    const { stdout, stderr } = await runProgram("npm", run, { folder });

    expect(stdout, stderr).toBe('{"email":"ada@example.com","lists":1,"outcome":"unknown","contacts":2}\n');
  });

  it.each(webProjects)("a program with its types compiles under $resolver", async (project) => {
    const options = { ...project.options, skipLibCheck: true };
    const { exitCode, stdout } = await compile(ownCompiler, { ...project, options }, folder, handlers);

    expect(exitCode, stdout).toBe(0);
  });
});

it("The tested versions of msw are the oldest of the package's range and the newest of each major", () => {
  const [oldest, ...newest] = inject("withMsw").map(({ version }) => version);

  expect(`^${oldest}`).toBe(newest[0]);
  expect(manifest.peerDependencies).toEqual({ msw: newest.join(" || ") });
});
