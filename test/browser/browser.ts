import { appendFileSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const folders = (process.env["PATH"] ?? "").split(delimiter);

/** Debian's Chromium, wherever it is; playwright-core brings none. */
const browserPath = ["chromium-headless-shell", "chromium"]
  .flatMap((name) => folders.map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

/** Without the requests that a browser makes by itself. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The one name that leads here although it is not of loopback: an insecure origin.
  "--host-resolver-rules=MAP mock.test 127.0.0.1",
];

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath!, args: QUIET });
}

/** Whether there is a browser. If there is none, it says so aloud, and in the report of the whole run. */
export function canRunBrowser(): boolean {
  if (browserPath !== undefined) return true;
  const message = "the tests in a browser: this machine has neither chromium-headless-shell nor chromium";
  console.log(`\nNOT RUN: ${message}\n`);
  const report = process.env["NOT_RUN_REPORT"];
  if (report !== undefined) appendFileSync(report, `${message}\n`);
  return false;
}
