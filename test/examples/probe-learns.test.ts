import { isAudienceError } from "audience-sdk";
import { createMockService, type MockFaultKind, type MockVariants } from "audience-sdk/mock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WebPageError } from "../../examples/probe/ask.ts";
import { variants } from "../../examples/probe/learn.ts";
import { runs } from "../properties/runs.ts";
import { account, expectLearned, learned, shownByGets, shownOf } from "./probe-account.ts";

/** The names of all variants: the mock lists them where one is unknown. */
function allVariants(): string[] {
  const unknown = { none: 1 } as object;
  try {
    createMockService({ variants: unknown });
  } catch (error) {
    return /there are (.*)$/.exec(String(error))?.[1]?.split(", ") ?? [];
  }
  return [];
}

describe("The probe and the variants of the mock", () => {
  it("the probe learns each variant that GETs or its writes show, and has a reason for each other one", async () => {
    const learnedByGets = Object.keys(fc.sample(shownByGets, 1)[0] ?? {});
    const learnedByWrites = ["eventStatus", "eventBody", "emailOptInOmitted", "phoneOptInOmitted"];
    const withLearner = Object.entries(variants).flatMap(([name, each]) =>
      typeof each === "string" ? [] : [name],
    );
    const { values } = await learned({ v1Paging: "meta" });

    expect(Object.keys(variants).toSorted()).toEqual(allVariants().toSorted());
    expect(withLearner.toSorted()).toEqual([...learnedByGets, ...learnedByWrites].toSorted());
    expect(Object.keys(values).toSorted()).toEqual(learnedByGets.toSorted());
  });

  it("what it learns of a mock is what the mock has, in at most ten GETs and without a write", async () => {
    await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runs(300));
  });

  it("what it learns of an account with nothing in it is true, and it learns nothing of what such an account hides", async () => {
    const check = async (given: Partial<MockVariants>) => {
      const { values } = await learned(given, { organizations: [{ ...account, lists: [], contacts: [] }] });
      expect(shownOf(given)).toMatchObject({
        ...values,
        v2DefaultLimit: expect.any(Number),
        v2MaxLimit: expect.any(Number),
      });
      for (const name of [
        "v1ListedCustomer",
        "v1ListedConsents",
        "v1ListedGroup",
        "v1Group",
        "profileAttributes",
        "unknownGroupStatus",
      ])
        expect(values).not.toHaveProperty(name);
    };
    const limits = { v2DefaultLimit: 20, v2MaxLimit: 100 };
    await fc.assert(
      fc.asyncProperty(shownByGets, (given) => check({ ...given, ...limits })),
      runs(200),
    );
  });

  it("a failure of one answer makes it learn less, and nothing that is not true", async () => {
    const kinds: MockFaultKind[] = [
      ...(["500-before", "502-html", "503-retry-after", "429", "truncated-json", "wrong-json"] as const),
      ...(["wrong-content-type", "empty-body", "redirect", "reset-before"] as const),
    ];
    const fault = fc.record({ kind: fc.constantFrom(...kinds), after: fc.integer({ min: 0, max: 9 }) });
    const check = async (given: Partial<MockVariants>, one: { kind: MockFaultKind; after: number }) => {
      const faults = [{ ...one, times: 1, retryAfter: false as const }];
      // With two errors to compare, and a maximum that one page shows.
      const narrowed = { ...given, unknownGroupStatus: 404, v2MaxLimit: 100 };
      const run = await learned(narrowed, { faults }).catch((error: unknown) => {
        if (!isAudienceError(error) && !(error instanceof WebPageError)) throw error;
      });
      expect(shownOf(narrowed)).toMatchObject(run?.values ?? {});
    };
    await fc.assert(fc.asyncProperty(shownByGets, fault, check), runs(200));
  });
});
