import { basename } from "node:path";
import { counted } from "../console/counted.ts";
import { printable } from "../console/text-width.ts";
import type { ReadRow } from "../exports/read-row.ts";

/** Remarks on many rows: each once, with the number of its rows and the first of them. */
export class Remarks {
  readonly #remarks = new Map<string, { count: number; first: string }>();

  add(remark: string, { file, number }: Pick<ReadRow, "file" | "number">): void {
    const known = this.#remarks.get(remark);
    if (known) known.count += 1;
    else this.#remarks.set(remark, { count: 1, first: `${printable(basename(file))}, row ${number}` });
  }

  lines(): string[] {
    return Array.from(this.#remarks, ([remark, { count, first }]) => {
      const where = count === 1 ? first : `${counted(count, "row")}, the first is ${first}`;
      return `${where}: ${printable(remark)}.`;
    });
  }
}
