import { appendFileSync } from "node:fs";

/** Reports what could not be tested, also to the file in which `.ci/run` collects it. */
export function sayNotRun(what: string): void {
  process.stderr.write(`NOT RUN: ${what}\n`);
  const report = process.env["NOT_RUN_REPORT"];
  if (report !== undefined) appendFileSync(report, `${what}\n`);
}
