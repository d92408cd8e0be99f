import { describe, expect, it } from "vitest";
import { brokenRules } from "./import-rules.ts";
import { sourceFiles, type SourceFiles } from "./source-files.ts";

const sources = sourceFiles("src");

describe("The imports of the sources", () => {
  it("keep every rule", () => {
    expect(sources.size).toBeGreaterThan(0);
    expect(brokenRules(sources)).toEqual([]);
  });
});

// Each case breaks one rule.
describe("A broken rule is reported", () => {
  it.each([
    [
      "an error that imports the client",
      "src/errors.ts",
      'import { x } from "./limits.ts";',
      "src/errors.ts imports src/limits.ts",
    ],
    [
      "a leaf that imports a type of this package",
      "src/limits.ts",
      'import type { X } from "./endpoint.ts";',
      "src/limits.ts imports src/endpoint.ts",
    ],
    [
      "a family in the transport",
      "src/transport/send.ts",
      'import { x } from "../v1/events.ts";',
      "transport and rate-limiter know no family",
    ],
    [
      "a family's type in the rate limiter",
      "src/rate-limiter/sliding-window-log.ts",
      'import type { X } from "../v2/lists.ts";',
      "transport and rate-limiter know no family",
    ],
    [
      "the transport in the rate limiter",
      "src/rate-limiter/sliding-window-log.ts",
      'import type { X } from "../transport/send.ts";',
      "rate-limiter does not know transport",
    ],
    [
      "v2 in v1",
      "src/v1/customers.ts",
      'export { x } from "../v2/lists.ts";',
      "v1 and v2 do not know each other",
    ],
    ["v1 in v2", "src/v2/lists.ts", 'export * from "../v1/events.ts";', "v1 and v2 do not know each other"],
    [
      "the limits in the mock",
      "src/mock/rules.ts",
      'import { LIMITS } from "../limits.ts";',
      "the mock reads the document for itself",
    ],
    [
      "a type of the client in the mock",
      "src/mock/state/organization.ts",
      'type X = import("../../errors.ts").Outcome;',
      "the mock reads the document for itself",
    ],
    [
      "the mock in the client",
      "src/bulk.ts",
      'import { x } from "./mock/state/organization.ts";',
      "nothing of the client imports the mock",
    ],
    [
      "code of the client in the redis store",
      "src/redis/redis-rate-limit-store.ts",
      'import { X } from "../errors.ts";',
      "redis and checkpoint take types",
    ],
    [
      "an import that only looks like types",
      "src/checkpoint/file-checkpoint.ts",
      'import { type X } from "../bulk.ts";',
      "redis and checkpoint take types",
    ],
    [
      "the limiter in the redis store",
      "src/redis/redis-store.ts",
      'import { RateLimiter } from "../rate-limiter/rate-limiter.ts";',
      "redis and checkpoint take types",
    ],
    ["the entry inside", "src/v1/events.ts", 'import type { X } from "../index.ts";', "nothing imports it"],
    [
      "a second importer of ky",
      "src/transport/interceptors/attempts.ts",
      'import ky from "ky";',
      "a package has one importer",
    ],
    [
      "a type of ky elsewhere",
      "src/client-options.ts",
      'import type { Options } from "ky";',
      "a package has one importer",
    ],
    [
      "a second importer of p-retry",
      "src/bulk.ts",
      'import pRetry from "p-retry";',
      "a package has one importer",
    ],
    [
      "a queue of bottleneck's in the limiter",
      "src/rate-limiter/queue.ts",
      'import Bottleneck from "bottleneck/light.js";',
      "a package has one importer",
    ],
    ["zod in the mock", "src/mock/rules.ts", 'import * as z from "zod";', "a package has one importer"],
    [
      "msw in the mock's core",
      "src/mock/index.ts",
      'const msw = await import("msw");',
      "a package has one importer",
    ],
    [
      "a fifth dependency",
      "src/client-options.ts",
      'import isEmail from "validator";',
      "a package has one importer",
    ],
    [
      "a built-in module",
      "src/client-options.ts",
      'import { x } from "node:os";',
      "built-in modules are loaded where",
    ],
    [
      "a built-in module that is loaded at run time elsewhere",
      "src/bulk.ts",
      'process.getBuiltinModule?.("node:fs");',
      "built-in modules are loaded where",
    ],
    [
      "a built-in module under its short name",
      "src/mock/listen.ts",
      'import http from "http";',
      "a package has one importer",
    ],
    [
      "a built-in module at the top of a file that may only load it at run time",
      "src/transport/observer.ts",
      'import { x } from "node:diagnostics_channel";',
      "built-in modules are loaded where",
    ],
    ["an import without its ending", "src/bulk.ts", 'import { x } from "./errors";', "with its ending"],
  ])("%s", (_title, path, text, report) => {
    expect(brokenRules(new Map([[path, text]]))).toContainEqual(expect.stringContaining(report));
  });

  it("a package that an entry imports indirectly", () => {
    const files: SourceFiles = new Map([
      ["src/schemas.ts", 'export { a } from "./v1/schemas/contact.ts";'],
      ["src/v1/schemas/contact.ts", 'import { b } from "../../transport/send.ts";'],
      ["src/transport/send.ts", 'import ky from "ky";'],
    ]);

    expect(brokenRules(files)).toEqual([
      "src/schemas.ts loads ky: an entry loads what is promised, and no more",
    ]);
  });

  it("a cycle, types included, once", () => {
    const files: SourceFiles = new Map([
      ["src/transport/a.ts", 'import { b } from "./b.ts";'],
      ["src/transport/b.ts", 'import { c } from "./c.ts";'],
      ["src/transport/c.ts", 'import type { A } from "./a.ts";'],
    ]);

    expect(brokenRules(files)).toEqual([
      "src/transport/a.ts, src/transport/b.ts, src/transport/c.ts: imports run in one direction",
    ]);
  });
});

describe("An allowed import is not reported", () => {
  it.each([
    ["the one importer of ky", "src/transport/send.ts", 'import ky from "ky";'],
    [
      "a type that the redis store takes",
      "src/redis/redis-rate-limit-store.ts",
      'import type { Store } from "../rate-limiter/store.ts";',
    ],
    ["a timer in the redis store", "src/redis/background.ts", 'import { x } from "../timer.ts";'],
    [
      "the count that the redis store builds on",
      "src/redis/local-share.ts",
      'import { x } from "../rate-limiter/sliding-window-log.ts";',
    ],
    [
      "a built-in module that is loaded at run time",
      "src/mock/listen.ts",
      'const http = await import("node:http");',
    ],
    [
      "the channels, as a type",
      "src/transport/observer.ts",
      'import type { X } from "node:diagnostics_channel";',
    ],
    ["an import in a comment", "src/errors.ts", '// import { x } from "./limits.ts";'],
  ])("%s", (_title, path, text) => {
    expect(brokenRules(new Map([[path, text]]))).toEqual([]);
  });
});
