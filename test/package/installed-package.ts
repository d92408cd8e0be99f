import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import type { Installed } from "./installation.ts";

/** A build and an installation take seconds; on a machine that is busy with other things, minutes. */
const longestWaitMs = 300_000;

/** The package as its users install it: waits until it is installed. */
export async function installedPackage(): Promise<Installed> {
  const report = inject("installedReport");
  for (let waitedMs = 0; !existsSync(report) && waitedMs < longestWaitMs; waitedMs += 50) await sleep(50);
  const outcome: Installed | { error: string } = JSON.parse(readFileSync(report, "utf8"));
  if ("error" in outcome) throw new Error(`The package was not installed: ${outcome.error}`);
  return outcome;
}
