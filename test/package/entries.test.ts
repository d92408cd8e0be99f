import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { importsOf, loadedBy } from "../project/imports.ts";
import { repository, sourceFiles } from "../project/source-files.ts";
import { compile, ownCompiler, someProjects } from "./compile.ts";
import { installedFiles, packagesOf, sourcesIn } from "./installation.ts";
import { runNode } from "./programs.ts";

const { consumer } = inject("installed");

describe("An entry loads only the promised modules", () => {
  const files = installedFiles(consumer, ".js");
  const imports = importsOf(files);
  const libraries = ["bottleneck", "is-network-error", "ky", "p-retry", "zod"];

  it.each([
    ["audience-sdk", "dist/index.js", [], libraries],
    ["audience-sdk/schemas", "dist/schemas.js", [], ["zod"]],
    ["audience-sdk/mock", "dist/mock/index.js", [], []],
    ["audience-sdk/mock/msw", "dist/mock/msw.js", ["msw"], []],
    ["audience-sdk/redis", "dist/redis/redis-rate-limit-store.js", [], ["zod"]],
    [
      "audience-sdk/checkpoint",
      "dist/checkpoint/file-checkpoint.js",
      ["node:fs", "node:path", "node:util", "node:zlib"],
      [],
    ],
    ["audience-sdk/snapshot", "dist/snapshot/index.js", ["node:fs", "node:path", "node:util"], ["zod"]],
  ])("%s, as an ES module", (entry, file, modules, packages) => {
    const loaded = [file, ...loadedBy(file, imports)];
    const foreign = loaded.filter((to) => !to.startsWith("dist/"));
    const inside = sourcesIn(loaded.map((path) => files.get(path) ?? "").join("\n"));
    const ofClient = inside.filter((path) =>
      /^src\/(audience-client|transport\/(transport|send)|bulk\/bulk|pagination)\b/.test(path),
    );

    expect([...files.keys()]).toContain(file);
    expect(foreign.sort()).toEqual(modules);
    expect(packagesOf(inside)).toEqual(packages);
    expect(ofClient.length > 0).toBe(entry === "audience-sdk");
  });

  const required = ["schemas", "mock", "redis", "checkpoint", "snapshot"];
  /** The names that each module exports which an entry loads, by entry; each is loaded anew. */
  let exportsOf: Record<string, string[][]>;
  beforeAll(async () => {
    const program = `
      const found = {};
      for (const entry of ${JSON.stringify(required)}) {
        for (const path of Object.keys(require.cache)) delete require.cache[path];
        require("audience-sdk/" + entry);
        found[entry] = Object.values(require.cache).map(({ exports }) => Object.keys(exports));
      }
      console.log(JSON.stringify(found));
    `;
    const { stdout } = await runNode(consumer, "--eval", program);
    exportsOf = JSON.parse(stdout);
  });

  it.each(required)("audience-sdk/%s, by require", (entry) => {
    const names = exportsOf[entry]?.flat() ?? [];

    expect(exportsOf[entry]?.length).toBeGreaterThan(0);
    expect(names.filter((name) => /^(AudienceClient|RateLimiter|V1Client|V2Client)$/.test(name))).toEqual([]);
    expect(names.includes("ZodType") || names.includes("v1ContactSchema")).toBe(entry === "schemas");
  });
});

describe("All libraries are built in", () => {
  it.each([".js", ".cjs"])("so that a %s file imports only Node's own modules, and msw", (ending) => {
    const files = installedFiles(consumer, ending);
    const foreign = importsOf(files).filter(({ to }) => !to.startsWith("dist/") && !to.startsWith("node:"));

    expect(foreign.map(({ from, to }) => `${from} ${to}`)).toEqual([`dist/mock/msw${ending} msw`]);
  });

  it("once for all entries, as ES modules", () => {
    const modules = [...installedFiles(consumer, ".js").values()].flatMap(sourcesIn);

    expect(modules.length).toBeGreaterThan(0);
    expect(modules.filter((path, index) => modules.indexOf(path) !== index)).toEqual([]);
  });
});

describe("The client needs no Node API", () => {
  const bundling = build({
    stdin: { contents: 'export { AudienceClient } from "audience-sdk";', resolveDir: consumer },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    globalName: "sdk",
    write: false,
    logLevel: "silent",
  });

  it("bundles for the web, and makes a call without process and require", async () => {
    const { outputFiles, warnings } = await bundling;
    const [bundle] = outputFiles;
    const response = JSON.stringify({ data: { type: "profile", id: "c-1", attributes: {} } });
    const program = `
      const sent = [];
      const fetch = async (url) => (sent.push(url), new Response(${JSON.stringify(response)}, { status: 201 }));
      const audience = new sdk.AudienceClient({ baseUrl: "https://api.example.com", apiKey: "a-key-that-is-long", fetch });
      audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }).then(({ id }) => [id, ...sent].join());
    `;
    const context = createContext(webGlobals());
    runInContext(bundle?.text ?? "", context);

    expect(warnings).toEqual([]);
    expect(await runInContext(program, context)).toBe("c-1,https://api.example.com/api/v1/customer/create");
    // One careless import of all of zod, with all its languages, adds half a megabyte.
    expect(bundle?.contents.length).toBeLessThan(300_000);
  });
});

/** The globals that all web runtimes share, without those of Node. */
function webGlobals(): Record<string, unknown> {
  const names =
    "AbortController AbortSignal DOMException Headers Request Response URL URLSearchParams TextDecoder TextEncoder " +
    "ReadableStream Blob FormData Event EventTarget performance crypto setTimeout clearTimeout queueMicrotask structuredClone";
  return Object.fromEntries(names.split(" ").map((name) => [name, Reflect.get(globalThis, name)]));
}

// `attw`, in the tests of the packed file, resolves them as each resolver does; `npm run platforms` compiles them.
describe("The declarations", () => {
  const declarations = installedFiles(consumer, ".d.ts", ".d.cts");

  it("name no type of a package except zod, and msw in its own entry", () => {
    const foreign = importsOf(declarations)
      .filter(({ to }) => !to.startsWith("dist/") && !/^zod(\/|$)/.test(to))
      .map(({ from, to }) => `${from} ${to}`);

    expect(foreign.sort()).toEqual(["dist/mock/msw.d.cts msw", "dist/mock/msw.d.ts msw"]);
  });

  it("do not show internal members", () => {
    expect([...declarations].filter(([, text]) => text.includes("@internal")).map(([path]) => path)).toEqual(
      [],
    );
  });
});

const programs = [...sourceFiles("test/types/released")];
const [, newest = ""] = readFileSync(join(repository, "CHANGELOG.md"), "utf8").split(/^## /m);
const isBreaking = /\bbreaking\b/i.test(newest);

describe("The programs of the last release's users", () => {
  it.each(programs)("compile: %s, unless the changelog says breaking", async (_path, text) => {
    const { exitCode, stdout } = await compile(ownCompiler, someProjects[0]!, consumer, text);

    expect(exitCode === 0 || isBreaking, stdout).toBe(true);
  });
});
