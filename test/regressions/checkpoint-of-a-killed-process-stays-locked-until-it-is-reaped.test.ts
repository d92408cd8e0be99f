import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../eventually.ts";

/** The id and the start of a killed process whose parent never asks for its exit code: a zombie. */
async function zombie(): Promise<string> {
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"]);
  onTestFinished(() => void parent.kill());
  const [output] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(String(output));
  const stat = (id = pid) => readFileSync(`/proc/${id}/stat`, "utf8");
  // The shell itself would collect it.
  await eventually(() => expect(stat(parent.pid)).toContain("(sleep)"));
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(stat()).toContain(") Z "));
  return `${pid}-${stat().split(" ")[21]}`;
}

// In a container whose first process collects no others, it stayed locked until the container's end.
it("The lock of a killed process is removed before its parent has collected it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "checkpoint-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const open = await fileCheckpoint(path).open();
  const own = readdirSync(folder).find((name) => name.includes(".lock-")) ?? "";
  await open.close();
  writeFileSync(join(folder, own.replace(/\d+-\d+/, await zombie())), "");
  // There is no wait.
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());

  await (await fileCheckpoint(path).open()).close();

  expect(readdirSync(folder)).toEqual(["import.ckpt"]);
});
