import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The file with the outcome of `setup-in-background.ts`. */
    installedReport: string;
  }
}

export interface Installed {
  /** The file that `npm publish` would upload. */
  readonly tarball: string;
  /** A user's project with only this package installed, and programs that use it. */
  readonly consumer: string;
}

const longestWaitMs = 120_000;

/** The package as its users install it: waits until it is installed. */
export async function installedPackage(): Promise<Installed> {
  const report = inject("installedReport");
  for (let waitedMs = 0; !existsSync(report) && waitedMs < longestWaitMs; waitedMs += 50) await sleep(50);
  const outcome: Installed | { error: string } = JSON.parse(readFileSync(report, "utf8"));
  if ("error" in outcome) throw new Error(`The package was not installed: ${outcome.error}`);
  return outcome;
}
