import fc from "fast-check";
import { expect, it } from "vitest";
import { manyRows, runProgram } from "../examples/importer-fixture.ts";
import { expectLearned, shownByGets } from "../examples/probe-account.ts";
import { runs } from "../properties/runs.ts";

it("The importer reads 200,000 rows in a heap that is smaller than the rows, and says at once what it does", async () => {
  const chunks: string[] = [];

  const { code, out } = await runProgram(
    [await manyRows(200_000), "--dry-run"],
    (_child, text) => void chunks.push(text),
    ["--max-old-space-size=96"],
  );

  expect(code).toBe(0);
  expect(out).toContain("200,000 of 200,000 rows can be imported");
  expect(chunks[0]).toBe("Reading 1 file …\n");
});

it("The probe learns 2,500 random accounts as they are", async () => {
  await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runs(2_500));
});
