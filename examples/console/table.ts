import { fitWidth, printable, textWidth } from "./text-width.ts";

const gap = "  ";

/**
 * Formats aligned rows under headings, in lines of at most `width`.
 *
 * The widest columns are cut first. Put text that may be written from right to left in the last column: a terminal may
 * reverse everything after it.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const cells = [headings, ...rows].map((row) => headings.map((_, column) => printable(row[column] ?? "")));
  const widths = fittingWidths(
    headings.map((_, column) => widest(cells, column)),
    width,
  );
  const lines = cells.map((row) =>
    widths
      .map((columnWidth, column) => fitWidth(row[column] ?? "", columnWidth))
      .join(gap)
      .trimEnd(),
  );
  return [
    ...lines.slice(0, 1),
    widths.map((columnWidth) => "─".repeat(columnWidth)).join(gap),
    ...lines.slice(1),
  ];
}

function widest(cells: readonly (readonly string[])[], column: number): number {
  return cells.reduce((width, row) => Math.max(width, textWidth(row[column] ?? "")), 1);
}

function fittingWidths(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const room = Math.max(width - gap.length * (widths.length - 1), widths.length);
  for (let excess = sum(widths) - room; excess > 0; excess -= 1) {
    const column = widths.indexOf(Math.max(...widths));
    widths[column] = (widths[column] ?? 1) - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
