import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";

/**
 * Writes a file. It is the old one or the new one, never a part of it. A new one can only be read by its owner; an old one
 * keeps its mode, and a link leads to it as before.
 */
export function replaceFile(name: string, content: string): void {
  const isNew = !existsSync(name);
  const file = isNew ? name : realpathSync(name);
  const mode = isNew ? 0o600 : statSync(file).mode & 0o777;
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    const handle = openSync(unfinished, "w", 0o600);
    try {
      fchmodSync(handle, mode);
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
