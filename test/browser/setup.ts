import { appendFileSync } from "node:fs";
import { browserPath } from "./open-browser.ts";

/** Says aloud, and in the report of the whole run, if there is no browser. */
export function setup(): void {
  if (browserPath !== undefined) return;
  const message = "the tests in a browser: this machine has neither chromium-headless-shell nor chromium";
  console.log(`\nNOT RUN: ${message}\n`);
  const report = process.env["NOT_RUN_REPORT"];
  if (report !== undefined) appendFileSync(report, `${message}\n`);
}
