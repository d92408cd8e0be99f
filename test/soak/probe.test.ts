import fc from "fast-check";
import { it } from "vitest";
import { expectLearned, shownByGets } from "../examples/probe-account.ts";
import { runs } from "../properties/runs.ts";

it("The probe learns 2,500 random accounts as they are", async () => {
  await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runs(2_500));
});
