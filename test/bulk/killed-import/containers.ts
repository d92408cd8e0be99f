import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

/** A command that runs a program among processes of its own, as a container does: its first one has the id 1. */
const unshare = ["unshare", "-pf", "--mount-proc", "--kill-child=SIGKILL"] as const;

const hasContainers = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

/** A suite that needs process namespaces. Without them it does not run, and that is reported; in CI as a failure. */
export function describeWithContainers(title: string, suite: () => void): void {
  if (hasContainers) describe(title, suite);
  else {
    it(`${title}: NOT SHOWN, there are no process namespaces (fails where CI=true)`, () => {
      console.warn(`Not shown: ${title}. It needs Linux, the program unshare, and the right to use it.`);
      expect(process.env["CI"]).not.toBe("true");
    });
  }
}

/** Node in a container. */
export function runInContainer(args: readonly string[]) {
  const child = spawn(unshare[0], [...unshare.slice(1), process.execPath, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = new Promise<{ code: number | null; out: string; errors: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, out, errors })),
  );
  return { child, ended };
}
