import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

/** Writes a file that only its owner can read. It is the old one or the new one, never a part of it. */
export function replaceFile(file: string, content: string): void {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    const handle = openSync(unfinished, "w", 0o600);
    try {
      writeSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
