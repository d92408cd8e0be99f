import type ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { entryPoints } from "./entry-points.ts";
import { readFuzz, untriedEntryPoints } from "./fuzz-entry-points.ts";

let program: ts.Program;
beforeAll(() => void (program = readFuzz()), 120_000);

describe("A function that takes something of a user's", () => {
  it("is tried with hostile values, each of them, by a test below test/fuzz", () => {
    expect(untriedEntryPoints(program)).toEqual([]);
  });

  it("is found wherever a user reaches it: exported, on a class, on what a call gives, and inherited", () => {
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

  it("is none where it takes nothing, is the package's own, or is what a user writes", () => {
    const names = [...entryPoints(program).keys()];

    for (const name of ["RateLimiter.usage", "RateLimiter.take", "new Paginator", "Hooks.onRetry"]) {
      expect(names).not.toContain(name);
    }
  });

  it("is told by its name where no test tries it", () => {
    expect(untriedEntryPoints(program, [])).toEqual([...entryPoints(program).keys()]);
  });
});
