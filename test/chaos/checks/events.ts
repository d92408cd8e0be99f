import type { Row } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./attempt.ts";
import { groupBy } from "./group-by.ts";

/** An event is recorded once, however often it was sent. */
export function checkEvents({ log, service }: World): string[] {
  const problems: string[] = [];
  const { events } = service.mock.organization("chaos");
  const recorded = groupBy(events, ({ uniqueIdentifier }) => uniqueIdentifier);
  for (const [id, same] of recorded) {
    if (id === undefined || same.length > 1)
      problems.push(`the event ${id} is recorded ${same.length} times`);
  }
  const sent = log.calls.filter(({ input }) => input?.kind === "event");
  for (const call of sent) {
    const ids = new Set(call.departures.map(({ body }) => idOf(body)));
    if (ids.size > 1) problems.push(`${describe(call)} was sent with ${ids.size} ids`);
    // The page of this fault may hide that the service has refused the event.
    const isHidden = call.departures.some(({ request }) => request?.fault === "wrong-content-type");
    const wasRecorded = isHidden || [...ids].some((id) => recorded.has(id));
    if (call.settledAt !== undefined && call.error === undefined && !wasRecorded)
      problems.push(`${describe(call)} resolved, and is not recorded`);
  }
  return [...problems, ...checkVersions(log.runs, sent)];
}

function idOf(body: string | undefined): string | undefined {
  const { uniqueIdentifier } = JSON.parse(body ?? "{}") as { uniqueIdentifier?: string };
  return uniqueIdentifier;
}

/** As long as a row with a key and a checkpoint does not change, it has one id, through all lives of the run. */
function checkVersions(runs: World["log"]["runs"], sent: World["log"]["calls"]): string[] {
  const problems: string[] = [];
  const current = new Map<string, { text: string; ids: Set<string | undefined> }>();
  for (const run of runs.filter(({ book }) => book !== undefined)) {
    for (const row of run.rows) {
      const place = `${run.book} ${row.key}`;
      const text = JSON.stringify(row satisfies Row);
      const before = current.get(place);
      const version = before?.text === text ? before : { text, ids: new Set<string | undefined>() };
      current.set(place, version);
      const call = sent.find((each) => each.run === run && each.key === row.key);
      for (const { body } of call?.departures ?? []) version.ids.add(idOf(body));
      if (version.ids.size > 1) problems.push(`row ${place} was sent as ${version.ids.size} events`);
    }
  }
  return problems;
}
