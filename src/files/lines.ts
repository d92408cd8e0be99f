import { read } from "node:fs";
import { promisify } from "node:util";

/** A line of a file, with its bytes. */
export interface Line {
  readonly text: string;
  readonly start: number;
  /** The start of the next line. */
  readonly end: number;
}

/** The longest line, in bytes: a file without a line end would be read into memory as a whole. */
export const longestLineBytes = 2 ** 20;

const chunkBytes = 65_536;
const lineFeed = 10;
const readChunk = promisify(read);

/**
 * The whole lines of a file, or those from a line's start on, up to one that is too long. `onRest` gets what follows them: the
 * begin of that one, or the part of a line that a kill has left, also if it is empty.
 */
export async function* readLines(
  handle: number,
  { from: firstStart = 0, onRest }: { from?: number; onRest?: (rest: Uint8Array) => void } = {},
): AsyncGenerator<Line, void, undefined> {
  const chunk = Buffer.alloc(chunkBytes);
  let rest: Uint8Array = new Uint8Array();
  let lineStart = firstStart;
  for (;;) {
    const { bytesRead } = await readChunk(handle, chunk, 0, chunkBytes, lineStart + rest.length);
    if (bytesRead === 0 || rest.length > longestLineBytes) return onRest?.(rest);
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let from = 0;
    for (let to = bytes.indexOf(lineFeed, rest.length); to >= 0; to = bytes.indexOf(lineFeed, from)) {
      const lineEnd = lineStart + to - from + 1;
      yield { text: bytes.toString("utf8", from, to), start: lineStart, end: lineEnd };
      lineStart = lineEnd;
      from = to + 1;
    }
    rest = bytes.subarray(from);
  }
}
