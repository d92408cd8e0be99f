import { printable } from "../console/text-width.ts";

// In words for whoever works with the contacts. The first that fits counts.
const titles: readonly [RegExp, string][] = [
  [/the service knows a stricter one/, "The service knows that these people have refused"],
  [/the map does not name it/, "The map does not say what a word about their consent means"],
  [/the map holds it back|must be true or false/, "The map holds them back"],
  [/plain refusal/, "A cell says that the person has refused"],
  [/consent that holds it back/, "Another row about the same person is held back"],
  [/may hold a refusal/, "Another row, which cannot be read, may hold a refusal of this person"],
  [/consent: is unstated/, "The files do not say whether these people want to be contacted"],
  [/^row: has /, "The row has too many or too few cells"],
  [/^email: required/, "The row has no e-mail address and no telephone number"],
  [/^email: is missing/, "The row has no e-mail address, which a list needs"],
  [/^(email|identifiers): |e-mail address/i, "The e-mail address cannot be used"],
  [/^phone: /, "The telephone number cannot be used"],
  [/^custom_properties/, "There are more custom properties than the service accepts"],
  [
    /may have been imported anyway|an earlier run/,
    "Nobody knows whether the service has them: the answer was lost",
  ],
  [/consent (created_at|ip|source|createdAt)/, "The proof of the consent is missing"],
];

/** A title for a reason, the same for all reasons of a kind. */
export function titleOf(reason: string): string {
  return titles.find(([pattern]) => pattern.test(reason))?.[1] ?? "Other problems";
}

const shownRows = 5;

/** The reasons why rows were not imported, grouped: with counts, and the first rows of each. */
export class Reasons {
  readonly #groups = new Map<string, { count: number; first: string[] }>();

  add(where: string, reason: string): void {
    const title = titleOf(reason);
    const group = this.#groups.get(title) ?? { count: 0, first: [] };
    group.count += 1;
    if (group.first.length < shownRows) group.first.push(`${where}: ${printable(reason)}`);
    this.#groups.set(title, group);
  }

  /** Each title with its count, the most frequent first. */
  titles(): string[] {
    return this.#sorted().map(([title, { count }]) => `${title}: ${count.toLocaleString("en")}`);
  }

  lines(): string[] {
    return this.#sorted().flatMap(([title, { count, first }]) => [
      ` ${title}: ${count.toLocaleString("en")}`,
      ...first.map((line) => `  ${line}`),
      ...(count > first.length ? [`  … and ${(count - first.length).toLocaleString("en")} more`] : []),
    ]);
  }

  #sorted() {
    return [...this.#groups].toSorted(([, one], [, other]) => other.count - one.count);
  }
}
