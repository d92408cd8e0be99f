/** A string as one word of a POSIX shell, quoted if necessary. */
export function shellWord(value: string): string {
  return /^[\w%+,./:=@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
