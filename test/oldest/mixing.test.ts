import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { compile, ownCompiler, someProjects } from "../package/compile.ts";
import { fileSizes } from "../package/installed-files.ts";
import { runNode } from "../package/run-program.ts";

/** A user's program: nested and extended schemas of the user and of the package, and their types. */
const program = `
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
      const { exitCode, stdout } = await compile(ownCompiler, project, folder, program);

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

it("The oldest tested zod is the oldest that the package allows", () => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );

  expect(dependencies).toEqual({ zod: `^${inject("withZod")[0]?.version}` });
});
