/** A text as one word of a POSIX shell: as it is where that says the same, else in quotes. */
export function shellWord(value: string): string {
  return /^[\w%+,./:=@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
