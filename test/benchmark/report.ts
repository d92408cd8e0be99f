import { availableParallelism, loadavg } from "node:os";

/** The median; without values, not a number. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Three digits: `1.23`, `12.3`, `123`. */
export function figure(value: number): string {
  return value >= 99.95 ? value.toFixed(0) : value.toFixed(value >= 9.995 ? 1 : 2);
}

/** A table in Markdown. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, column) => (column === 0 ? "---" : "---:"));
  return [header, rule, ...rows].map(line).join("\n");
}

/** A sentence with the peers that could not be measured, if there are any. */
export function missing(wanted: readonly string[], measured: readonly string[]): string[] {
  const names = wanted.filter((name) => !measured.includes(name));
  return names.length === 0 ? [] : [`NOT MEASURED, for want of a working installation: ${names.join(", ")}.`];
}

/** The machine and its load in the last minute: more than a core each means that others slowed the processes down. */
export function machine(): string {
  const [load = Number.NaN] = loadavg();
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, load ${load.toFixed(1)}`;
}
