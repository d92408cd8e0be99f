/** The column that a report adds: the reason why the row was not imported. */
export const reasonHeading = "import: reason";

/** The reason of a line with another number of cells than headings. */
export function shapeReason(cells: number, headings: number): string {
  return `has ${cells} ${cells === 1 ? "cell" : "cells"}, but there are ${headings} headings`;
}

/** The number of cells of a line that was cut short. Until one of the missing cells is filled, it is refused again. */
export function cellsBeforeCut(reason: string): number | undefined {
  const [, cells, headings] = /^row: has (\d+) cells?, but there are (\d+) headings/.exec(reason) ?? [];
  return Number(cells) < Number(headings) ? Number(cells) : undefined;
}
