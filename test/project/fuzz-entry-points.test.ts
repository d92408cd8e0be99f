import type ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { entryPoints } from "./entry-points.ts";
import { readFuzz, untriedEntryPoints } from "./fuzz-entry-points.ts";

let program: ts.Program;
beforeAll(() => void (program = readFuzz()), 120_000);

describe("A public function with parameters", () => {
  it("is called with hostile values by a test in test/fuzz", () => {
    expect(untriedEntryPoints(program)).toEqual([]);
  });

  it("is found as an export, on a class, on a return value, and as an inherited method", () => {
    expect([...entryPoints(program).keys()]).toEqual(
      expect.arrayContaining([
        "isAudienceError",
        "new RateLimiter",
        "new NotFoundError",
        "AudienceClient.withOptions",
        "V1Customers.upsert",
        "Bulk.check",
        "Paginator.toArray",
        "MockService.addFault",
        "OpenCheckpoint.set",
        "BulkRun.then",
      ]),
    );
  });

  it("excludes functions without parameters, internal functions, and functions that a user writes", () => {
    const names = [...entryPoints(program).keys()];

    for (const name of ["RateLimiter.usage", "RateLimiter.acquire", "new Paginator", "Hooks.onRetry"]) {
      expect(names).not.toContain(name);
    }
  });

  it("is reported by its name if no test calls it", () => {
    expect(untriedEntryPoints(program, [])).toEqual([...entryPoints(program).keys()]);
  });
});
