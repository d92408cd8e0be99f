import fc from "fast-check";
import { it } from "vitest";
import { expectLearned, shownByGets } from "../examples/probe-account.ts";
import { runs } from "../properties/runs.ts";

it("The probe learns 10,000 random accounts as they are", { timeout: 1_800_000 }, async () => {
  await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runs(10_000));
});
