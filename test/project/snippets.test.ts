import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMockService, type MockListener } from "audience-sdk/mock";
import ts from "typescript";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { snippetsOf } from "./snippets.ts";
import { repository } from "./source-files.ts";

const pages = [
  "README.md",
  "examples/guides/retries-and-outcome.md",
  "examples/guides/test-your-app.md",
  "examples/guides/bulk.md",
];

const folder = mkdtempSync(join(tmpdir(), "snippets-"));
const snippets = pages
  .flatMap(snippetsOf)
  .map((snippet, at) => ({ ...snippet, path: join(folder, `${at}.mts`) }));
const mock = createMockService();
let server: MockListener;

beforeAll(async () => {
  // Where a reader's own program would find its packages.
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
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
  // A snippet that writes a file writes it where all of this goes away.
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  for (const level of ["log", "info", "warn", "debug"] as const) vi.spyOn(console, level).mockReturnValue();
});

afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("The snippets of the pages", () => {
  it("are there", () => {
    for (const page of pages) expect(snippets.filter(({ place }) => place.startsWith(page))).not.toEqual([]);
  });

  it("compile", { timeout: 60_000 }, () => {
    const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
    const places = snippets.map(({ path }) => path);
    const typeRoots = [join(repository, "node_modules/@types")];
    // A snippet is read on its own: unlike our sources, it may leave a name unused that it shows.
    const program = ts.createProgram(places, { ...options, typeRoots, noUnusedLocals: false });

    const problems = ts
      .getPreEmitDiagnostics(program)
      .filter(({ file }) => file !== undefined && places.includes(file.fileName))
      .map(({ file, messageText }) => {
        const place = snippets.find(({ path }) => path === file?.fileName)?.place;
        return `${place}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
      });

    expect(problems).toEqual([]);
  });

  // Those that are tests themselves are run by the mock's tests of its guide.
  it.each(snippets.filter(({ code }) => !code.includes('from "vitest"')))("run: $place", async ({ path }) => {
    await expect(import(path)).resolves.toBeDefined();
  });
});
