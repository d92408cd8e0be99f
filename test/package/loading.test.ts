import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, inject, it } from "vitest";
import { importsOf, loadedBy } from "../project/imports.ts";
import { installedFiles } from "./installed-files.ts";
import { runNode } from "./run-program.ts";

const consumer = inject("consumer");

describe("An entry loads what is promised, and no more", () => {
  it.each([
    ["audience-sdk", "dist/index.js", ["bottleneck/lib/Sync.js", "ky", "p-retry", "zod"]],
    ["audience-sdk/schemas", "dist/schemas.js", ["zod"]],
    ["audience-sdk/mock", "dist/mock/index.js", []],
    ["audience-sdk/mock/msw", "dist/mock/msw.js", ["msw"]],
    ["audience-sdk/redis", "dist/redis/index.js", []],
    [
      "audience-sdk/checkpoint",
      "dist/checkpoint/index.js",
      ["node:crypto", "node:fs", "node:os", "node:path"],
    ],
  ])("%s, as an ES module", (_entry, file, packages) => {
    const files = installedFiles(consumer, ".js");
    const imports = importsOf(files);
    const modules = [...loadedBy(file, imports)].filter((to) => !to.startsWith("dist/"));
    const loaded = new Set(modules.map((to) => (to.startsWith("zod/") ? "zod" : to)));

    expect([...files.keys()]).toContain(file);
    expect([...loaded].sort()).toEqual(packages);
  });

  it.each([
    ["audience-sdk", ["audience-sdk", "zod"]],
    ["audience-sdk/schemas", ["audience-sdk", "zod"]],
    ["audience-sdk/mock", ["audience-sdk"]],
    ["audience-sdk/redis", ["audience-sdk"]],
    ["audience-sdk/checkpoint", ["audience-sdk"]],
  ])("%s, by require", async (entry, packages) => {
    const program = `require(${JSON.stringify(entry)}); console.log(JSON.stringify(Object.keys(require.cache)))`;
    const { stdout } = await runNode(consumer, "--eval", program);
    const files: string[] = JSON.parse(stdout);
    const loaded = new Set(files.map((path) => /.*node_modules[\\/]([^\\/]+)/.exec(path)?.[1] ?? path));

    expect([...loaded].sort()).toEqual(packages);
  });

  it("audience-sdk/schemas, by require, loads nothing of the client", async () => {
    const program =
      "require('audience-sdk/schemas'); console.log(Object.values(require.cache).map(({ exports }) => Object.keys(exports)).flat().join())";
    const { stdout } = await runNode(consumer, "--eval", program);

    expect(stdout).toContain("v1ContactSchema");
    expect(stdout).not.toMatch(/AudienceClient|RateLimiter|Transport/);
  });
});

describe("The client needs nothing of Node", () => {
  it("bundles for the web, and makes a call where there is neither process nor require", async () => {
    const { outputFiles, warnings } = await build({
      stdin: { contents: 'export { AudienceClient } from "audience-sdk";', resolveDir: consumer },
      bundle: true,
      minify: true,
      platform: "browser",
      format: "iife",
      globalName: "sdk",
      write: false,
      logLevel: "silent",
    });
    const [bundle] = outputFiles;
    const answer = JSON.stringify({ data: { type: "profile", id: "c-1", attributes: {} } });
    const program = `
      const sent = [];
      const fetch = async (url) => (sent.push(url), new Response(${JSON.stringify(answer)}, { status: 201 }));
      const audience = new sdk.AudienceClient({ baseUrl: "https://api.example.com", apiKey: "a-key-that-is-long", fetch });
      audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }).then(({ id }) => [id, ...sent].join());
    `;
    const context = createContext(webGlobals());
    runInContext(bundle?.text ?? "", context);

    expect(warnings).toEqual([]);
    expect(await runInContext(program, context)).toBe("c-1,https://api.example.com/api/v1/customer/create");
    // Half a megabyte is what comes of it if one careless import brings all of zod along, in all its languages.
    expect(bundle?.contents.length).toBeLessThan(300_000);
  });
});

/** What the web's runtimes have in common, and nothing of Node's. */
function webGlobals(): Record<string, unknown> {
  const { AbortController, AbortSignal, DOMException, Headers, Request, Response, URL, URLSearchParams } =
    globalThis;
  const {
    TextDecoder,
    TextEncoder,
    ReadableStream,
    Blob,
    FormData,
    Event,
    EventTarget,
    performance,
    crypto,
  } = globalThis;
  const { setTimeout, clearTimeout, queueMicrotask, structuredClone } = globalThis;
  const classes = {
    AbortController,
    AbortSignal,
    DOMException,
    Headers,
    Request,
    Response,
    URL,
    URLSearchParams,
  };
  const others = {
    TextDecoder,
    TextEncoder,
    ReadableStream,
    Blob,
    FormData,
    Event,
    EventTarget,
    performance,
    crypto,
  };
  return { ...classes, ...others, setTimeout, clearTimeout, queueMicrotask, structuredClone };
}
