import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import { personIn } from "../inputs.ts";
import type { World } from "../world.ts";

/** close() ends every call of its client, and nothing else is left: no promise, no rejection. */
export function checkClosing({ log, process }: World): string[] {
  const problems = log.unhandled.map((error) => `an unhandled rejection: ${String(error)}`);
  for (const { client, drain, startedAt, endedAt } of log.closes) {
    if (endedAt === undefined) continue;
    for (const call of log.calls) {
      const { client: owner, tag, run, error, startedAt: calledAt, settledAt } = call;
      if (owner !== client) continue;
      // What a row has ended with is told by its result.
      if (settledAt === undefined && !run) problems.push(`${tag} did not end with close() of its client`);
      if (!run && calledAt <= startedAt && settledAt !== undefined && settledAt > endedAt)
        problems.push(`${tag} ended after close() of its client`);
      const isClosed = isAudienceError(error) && error.code === "closed";
      // Further rows of a run are new calls.
      if (isClosed && drain && !run && calledAt < startedAt) problems.push(`${tag} was not drained`);
      // A row that was being read ends unsent.
      const isUnsentRow = run && settledAt === undefined;
      if (!isClosed && calledAt > endedAt && !isUnsentRow)
        problems.push(`${tag} was taken by a closed client`);
    }
  }
  const usage = process?.limiter?.usage();
  if (usage && usage.queued + usage.inFlight > 0)
    problems.push(`${usage.queued} calls wait and ${usage.inFlight} are in flight in the limiter at the end`);
  return problems;
}

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
