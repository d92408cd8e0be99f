import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import type { Installed } from "./installed-package.ts";
import { setup as setUpPackage } from "./setup.ts";

/** Packs and installs the package while other tests run; `installedPackage` waits for it. Returns the cleanup. */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "audience-sdk-installed-"));
  const report = join(folder, "report.json");
  project.provide("installedReport", report);
  const settingUp = reportInstallation(report);
  return async () => {
    await (
      await settingUp
    )();
    await rm(folder, { recursive: true, force: true });
  };
}

async function reportInstallation(report: string): Promise<() => Promise<void>> {
  const installed: Partial<ProvidedContext> = {};
  let remove = async () => {};
  let outcome: Installed | { error: string };
  try {
    remove = await setUpPackage({ provide: (name, value) => void (installed[name] = value) });
    outcome = { tarball: installed.tarball!, consumer: installed.consumer! };
  } catch (error) {
    outcome = { error: String(error) };
  }
  await writeFile(`${report}.new`, JSON.stringify(outcome));
  await rename(`${report}.new`, report);
  return remove;
}
