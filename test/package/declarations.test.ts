import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { installedFiles } from "./installed-files.ts";
import { runNode, tool } from "./run-program.ts";

const consumer = inject("consumer");

const program = `
import { AudienceClient, isAudienceError, RateLimiter, type ClientOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { LIMITS, v1ContactSchema } from "audience-sdk/schemas";

const options: ClientOptions = { rateLimiter: new RateLimiter({ maxWaitMs: 1_000 }) };
const audience = new AudienceClient({ ...createMockService().clientOptions, ...options });

export async function email(id: string): Promise<string | null | undefined> {
  const { data: profile, attempts } = await audience.v1.customers.get(id).withResponse();
  const count: number = attempts + LIMITS.custom_properties.maxKeys;
  for await (const { id: other } of audience.v1.customers.list()) if (other === id) break;
  try {
    await audience.v1.contactGroups.addContact("l-1", { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
  } catch (error) {
    if (isAudienceError(error)) return error.request?.path;
  }
  return v1ContactSchema.safeParse({}).success ? String(count) : profile.attributes.email;
}
`;

const runtimes = {
  "@types/node": { lib: ["ES2023"], types: ["node"], typeRoots: [tool("@types")] },
  "the web's own types": { lib: ["ES2023", "DOM", "ESNext.Disposable"], types: [] },
};

const resolvers = {
  node16: { module: "Node16", moduleResolution: "Node16" },
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { module: "ESNext", moduleResolution: "Bundler" },
};

const cases = Object.entries(resolvers).flatMap(([resolver, how]) =>
  Object.entries(runtimes).map(([runtime, what]) => ({ resolver, runtime, options: { ...how, ...what } })),
);

describe("The declarations compile with all library checks", () => {
  it.each(cases)("under $resolver, with $runtime", async ({ resolver, runtime, options }) => {
    const folder = join(consumer, "declarations", resolver, runtime.replaceAll(/\W+/g, "-"));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "program.mts"), program);
    // What stands in a .cts file is CommonJS, and is given the other declarations.
    if (resolver !== "bundler") await writeFile(join(folder, "program.cts"), program);
    const strict = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: "ES2022",
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...strict, ...options } }),
    );

    const { exitCode, stdout } = await runNode(folder, tool("typescript/bin/tsc"));

    expect(exitCode, stdout).toBe(0);
  });
});

describe("The declarations", () => {
  const declarations = installedFiles(consumer, ".d.ts", ".d.cts");

  it("name no type of a package but zod, and msw at its own door", () => {
    const foreign = importsOf(declarations)
      .filter(({ to }) => !to.startsWith("dist/") && !/^zod(\/|$)/.test(to))
      .map(({ from, to }) => `${from} ${to}`);

    expect(foreign.sort()).toEqual(["dist/mock/msw.d.cts msw", "dist/mock/msw.d.ts msw"]);
  });

  it("keep what is internal to themselves", () => {
    expect([...declarations].filter(([, text]) => text.includes("@internal")).map(([path]) => path)).toEqual(
      [],
    );
  });
});
