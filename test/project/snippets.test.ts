import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "node:util";
import { createMockService, type MockListener } from "audience-sdk/mock";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { pages, snippetsOf, type Snippet } from "./pages.ts";
import { repository } from "./source-files.ts";

// Their programs are the examples, the recipes and the benchmark, which have their own tests.
const pagesWithout = ["benchmarks", "importer", "probe", "recipes"].map(
  (name) => `examples/guides/${name}.md`,
);

const folder = mkdtempSync(join(tmpdir(), "snippets-"));
const snippets = pages
  .flatMap(snippetsOf)
  .map((snippet, at) => ({ ...snippet, path: join(folder, snippet.fileName ?? `${at}.ts`) }));
const mock = createMockService();
let server: MockListener;
/** The output of the running snippet. */
let lines: string[];

beforeAll(async () => {
  // The location where a reader's program would find its packages.
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const { path, code } of snippets) writeFileSync(path, code);
  server = await mock.listen();
});

beforeEach(() => {
  mock.reset();
  const { baseUrl, baseUrlV2, apiKey, appId } = server.clientOptions;
  vi.stubEnv("AUDIENCE_BASE_URL", baseUrl);
  vi.stubEnv("AUDIENCE_BASE_URL_V2", baseUrlV2);
  vi.stubEnv("AUDIENCE_API_KEY", apiKey);
  vi.stubEnv("AUDIENCE_APP_ID", appId);
  vi.stubEnv("SNIPPET_LIST_ID", "mock-list");
  // A snippet writes its files into a temporary folder.
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  lines = [];
  vi.spyOn(console, "log").mockImplementation((...values) => {
    lines.push(...format(...values).split("\n"));
  });
  for (const level of ["info", "warn", "debug"] as const) vi.spyOn(console, level).mockReturnValue();
  // Each is a separate program and needs an unused limiter.
  Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limiters"));
});

afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

// `public-surface.test.ts` compiles them.
describe("The snippets of the pages", () => {
  it("exist", () => {
    const bare = pages.filter((page) => !snippets.some(({ location }) => location.startsWith(`${page}:`)));
    expect(bare.filter((page) => !pagesWithout.includes(page))).toEqual([]);
  });

  // Snippets that are tests are run by the tests of the mock's guide.
  const programs = snippets.filter(({ code }) => !code.includes('from "vitest"'));
  const needsRedis = ({ code }: Snippet): boolean => code.includes("REDIS_URL");
  const run = async ({ path, printed }: { path: string } & Snippet): Promise<void> => {
    await expect(import(path)).resolves.toBeDefined();
    if (printed.length > 0) expect(lines).toEqual(printed);
  };

  it.each(programs.filter((snippet) => !needsRedis(snippet)))("run: $location", run);

  describeWithRedis("with a Redis", () => {
    let redis: RedisServer;
    beforeAll(async () => void (redis = await RedisServer.start()));
    beforeEach(() => void vi.stubEnv("REDIS_URL", redis.url));
    afterAll(() => redis.end());

    it.each(programs.filter(needsRedis))("run: $location", run);
  });
});
