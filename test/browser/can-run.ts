import { appendFileSync } from "node:fs";
import { browserPath } from "./open-browser.ts";

/** Whether there is a browser. If there is none, it says so aloud, and in the report of the whole run. */
export function canRunBrowser(): boolean {
  if (browserPath !== undefined) return true;
  const message = "the tests in a browser: this machine has neither chromium-headless-shell nor chromium";
  console.log(`\nNOT RUN: ${message}\n`);
  const report = process.env["NOT_RUN_REPORT"];
  if (report !== undefined) appendFileSync(report, `${message}\n`);
  return false;
}
