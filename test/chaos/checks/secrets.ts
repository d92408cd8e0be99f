import { inspect } from "node:util";
import { personIn } from "../people.ts";
import type { World } from "../world.ts";

const gram = 8;

/** No error shows eight characters of a key; no log line, hook or trace shows that, or a person, or a body. */
export function checkSecrets({ log, service }: World): string[] {
  const grams = log.secrets.flatMap((key) =>
    Array.from({ length: key.length - gram + 1 }, (_, start) => key.slice(start, start + gram)),
  );
  const leaks = new RegExp(grams.join("|"));
  const problems: string[] = [];
  const said = log.said.map(({ text }) => text).join("\n");
  if (leaks.test(said) || personIn(said) !== undefined) {
    const lines = log.said.filter(({ text }) => leaks.test(text) || personIn(text) !== undefined);
    for (const { where, text } of lines) problems.push(`${where} shows a key, a person or a body: ${text}`);
  }
  const errors = [
    ...log.calls.map(({ error }) => error),
    ...log.runs.flatMap(({ error, results }) => [error, ...results.map((result) => result.error)]),
  ];
  for (const error of new Set(errors)) {
    if (!(error instanceof Error)) continue;
    const shown = `${error.stack} ${JSON.stringify(error)} ${inspect(error, { depth: 8, showHidden: true })}`;
    if (leaks.test(shown)) problems.push(`an error shows a key: ${shown.slice(0, 2_000)}`);
  }
  const strangers = service.mock.organization("stranger");
  if (strangers.contacts.length !== 1 || strangers.events.length > 0)
    problems.push("another organization changed");
  return problems;
}
