import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { runProgram, tool, type Outcome } from "./programs.ts";

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
    if (isAudienceError(error)) return error.request?.path ?? String(error.cause);
  }
  return v1ContactSchema.safeParse({}).success ? String(count) : profile.attributes.email;
}
`;

const runtimes = {
  "@types/node": { lib: ["ES2020"], types: ["node"], typeRoots: [tool("@types")] },
  "the web's own types": { lib: ["ES2023", "DOM", "ESNext.Disposable"], types: [] },
};

const resolvers = {
  node16: { module: "Node16", moduleResolution: "Node16" },
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { module: "ESNext", moduleResolution: "Bundler" },
};

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
  target: "ES2022",
};

/** A user's project: the options in its `tsconfig.json`. */
export interface Project {
  readonly resolver: string;
  readonly runtime: string;
  readonly options: object;
}

/** Every resolver that supports entries, with the types of either runtime, and all library checks. */
export const projects: Project[] = Object.entries(resolvers).flatMap(([resolver, how]) =>
  Object.entries(runtimes).map(([runtime, what]) => ({
    resolver,
    runtime,
    options: { ...strict, ...how, ...what },
  })),
);

/** Each resolver once, with one of the runtimes. */
export const someProjects = projects.filter(
  ({ resolver, runtime }) => (resolver === "bundler") !== (runtime === "@types/node"),
);

/** The TypeScript version of the repository. */
export const ownCompiler = [process.execPath, tool("typescript/bin/tsc")];

/** Compiles a program that uses the installed package. `folder` is created in the consumer's folder. */
export async function compile(
  tsc: readonly string[],
  { resolver, runtime, options }: Project,
  consumer: string,
  text = program,
): Promise<Outcome> {
  const folder = join(consumer, "declarations", `${resolver} ${runtime}`.replaceAll(/\W+/g, "-"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "program.mts"), text);
  // A .cts file is CommonJS, and gets the CommonJS declarations.
  if (resolver !== "bundler") await writeFile(join(folder, "program.cts"), text);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  const [command = "", ...args] = tsc;
  return runProgram(command, args, { folder });
}

/** The output of a user's bundler, for a program beside the installed package. */
export async function bundle(contents: string, consumer: string, options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: consumer },
    bundle: true,
    mainFields: ["module", "main"],
    conditions: ["import"],
    target: "es2022",
    external: ["node:*"],
    ...options,
    write: false,
  });
  return outputFiles[0]!.contents; // one for each program
}
