import { openSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A new file beside this one. Nobody can have put a file or a link there before: its name is random. */
export function createTemporary(file: string): { readonly path: string; readonly handle: number } {
  const path = `${file}.${crypto.randomUUID()}.tmp`;
  return { path, handle: openSync(path, "wx", 0o600) };
}

export function removeTemporary(path: string): void {
  rmSync(path, { force: true });
}

/** Removes what killed processes have left beside a file. Only its lock tells that no other process writes there. */
export function removeLeftovers(file: string): void {
  const [folder, begin] = [dirname(file), `${basename(file)}.`];
  for (const name of readdirSync(folder))
    if (name.startsWith(begin) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(begin.length)))
      removeTemporary(join(folder, name));
}
