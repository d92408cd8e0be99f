import { expect, it } from "vitest";
import { skippedTests } from "./skipped-tests.ts";
import { sourceFiles } from "./source-files.ts";

it("No test is skipped", () => {
  expect(skippedTests(sourceFiles("test"))).toEqual([]);
});

it.each([
  "it.skip('x', () => {});",
  "describe.only('x', () => {});",
  "test.todo('x');",
  "it.concurrent.only('x', () => {});",
  "it.skipIf(process.platform === 'win32')('x', () => {});",
  "it('x', (context) => { context.skip(); });",
])("A test that does not run is reported: %s", (text) => {
  expect(skippedTests(new Map([["a.test.ts", text]]))).toEqual([expect.stringContaining("a.test.ts:1 ")]);
});

it("The same word in a title or a comment is not reported", () => {
  expect(
    skippedTests(new Map([["a.test.ts", "// it.skip\nit('skips what is done: it.only', () => {});"]])),
  ).toEqual([]);
});
