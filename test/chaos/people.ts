/** The people of a run. Their addresses, phones and names are recognized wherever they appear. */
export const people = [0, 1, 2, 3, 4, 5, 6, 7] as const;

export const listIds: readonly string[] = Array.from({ length: 7 }, (_, number) => `list-${number}`);

const domain = "people.test";
const phonePrefix = "+1555010";
export const nameMark = "Person";

export function emailOf(person: number): string {
  return `p${person}@${domain}`;
}

/** The address of somebody who has moved to another one. */
export function newEmailOf(person: number): string {
  return `p${person}.new@${domain}`;
}

export function phoneOf(person: number): string {
  return `${phonePrefix}${person}77`;
}

/** What of a person, or of a body, a text shows; undefined if nothing. */
export function personIn(text: string): string | undefined {
  return [domain, phonePrefix.slice(1), nameMark].find((mark) =>
    text.toLowerCase().includes(mark.toLowerCase()),
  );
}
