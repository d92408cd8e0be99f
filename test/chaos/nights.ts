import type { BulkOptions, BulkResult } from "audience-sdk";
import type { Dice } from "./dice.ts";
import { anyRow, type Input, withOtherAddress, withNight, withOtherConsent, writeOf } from "./inputs.ts";
import type { Lineage, Process } from "./process.ts";
import type { CallRecord, Row, RunRecord } from "./records.ts";
import type { Import, World } from "./world.ts";

/** A table that is imported night after night, and changes meanwhile. */
export class Table {
  readonly #dice: Dice;
  readonly #people: readonly number[];
  #rows: readonly Row[] = [];

  constructor(dice: Dice, people: readonly number[]) {
    this.#dice = dice;
    this.#people = people;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Some rows change, a few leave, and new ones come. */
  nextNight(): readonly Row[] {
    const dice = this.#dice;
    const kept = this.#rows.filter(() => dice.chance(0.95)).map((row) => this.#changed(row));
    const known = new Set(kept.map(({ key }) => key));
    const added = this.#people.flatMap((person): Row[] => [
      ...(dice.chance(0.6) ? [this.#newRow(`row-${person}`, person)] : []),
      // Some people stand in the table under two keys.
      ...(dice.chance(0.1) ? [this.#newRow(`second-row-${person}`, person)] : []),
    ]);
    this.#rows = [...kept, ...added.filter(({ key }) => !known.has(key))];
    return this.#rows;
  }

  #newRow(key: string, person: number): Row {
    return { key, person, inputs: anyRow(this.#dice, person), night: 0 };
  }

  #changed(row: Row): Row {
    const dice = this.#dice;
    const chance = dice.next();
    if (chance < 0.6) return row;
    if (chance < 0.74) {
      const night = row.night + 1;
      return { ...row, night, inputs: row.inputs.map((input) => withNight(input, night)) };
    }
    if (chance < 0.78) return { ...row, inputs: row.inputs.map(withOtherAddress) };
    if (chance < 0.92) {
      const isFirstAlone = dice.chance(0.3);
      const change = (input: Input, index: number) =>
        index === 0 || !isFirstAlone ? withOtherConsent(dice, input) : input;
      return { ...row, inputs: row.inputs.map(change) };
    }
    return { ...row, inputs: anyRow(dice, row.person) };
  }
}

/** A name, as keys rotate. */
const organization = "chaos";

interface Night {
  readonly dice: Dice;
  readonly rows: readonly Row[];
  /** The last nights: nothing ends a run any more. */
  readonly isCalm?: boolean;
}

/** Starts a run over the table of one import, in a process that may die meanwhile. */
export function importTable(world: World, process: Process, one: Import, night: Night): RunRecord {
  const { dice, rows, isCalm = false } = night;
  const lineage = dice.pick(process.lineages);
  const book = isCalm || dice.chance(0.9) ? one : undefined;
  const run: RunRecord = {
    client: lineage.name,
    book: book?.book.name,
    rows,
    concurrency: dice.int(1, 4),
    startedAt: performance.now(),
    results: [],
    hasIsCurrent: !isCalm && dice.chance(0.2),
    wasKilled: false,
    wasLeft: false,
  };
  world.log.runs.push(run);
  if (book) book.isRunning = true;
  void process.died.then(() => {
    if (run.endedAt !== undefined) return;
    run.wasKilled = true;
    if (book) book.isRunning = false;
  });
  world.follow(process, async () => {
    await consume(world, { process, lineage, run, one: book, night });
    if (process.isDead) return;
    run.endedAt = performance.now();
    if (book) book.isRunning = false;
  });
  return run;
}

interface Consumed {
  readonly process: Process;
  readonly lineage: Lineage;
  readonly run: RunRecord;
  readonly one: Import | undefined;
  readonly night: Night;
}

async function consume(world: World, { process, lineage, run, one, night }: Consumed): Promise<void> {
  const { dice, isCalm = false } = night;
  const calls = new Map<Row, CallRecord[]>();
  const client = dice.pick(lineage.views);
  const options = client === lineage.views[0] ? {} : { maxRetries: 1 };
  const toWrites = (row: Row) => {
    // It may be called more than once for a row.
    const records =
      calls.get(row) ??
      row.inputs.map((input) => world.newCall(lineage, input, options, { run, key: row.key }));
    calls.set(row, records);
    return records.map((record) => writeOf(record.input!, world.tagged(record)));
  };
  const bulkOptions: BulkOptions<Row> = {
    key: ({ key }) => key,
    concurrency: run.concurrency,
    ...(one && { checkpoint: one.book.for(process) }),
    organization,
    ...(run.hasIsCurrent && {
      isCurrent: async (row: Row) => {
        const [isCurrent, askedAt] = [dice.chance(0.85), performance.now()];
        // Sometimes too late.
        await world.time.sleep(dice.chance(0.05) ? 1_100 : dice.int(0, 5));
        const answer = { askedAt, at: performance.now(), isCurrent };
        for (const { answers } of calls.get(row)!) answers.push(answer);
        return isCurrent;
      },
    }),
    ...((isCalm || dice.chance(0.3)) && { stopWhen: () => false }),
    ...(!isCalm && dice.chance(0.1) && { signal: signalAfter(world, dice.pick([1, 50, 1_000, 10_000])) }),
  };
  const leftAfter = !isCalm && dice.chance(0.08) ? dice.int(1, 3) : Infinity;
  const pauseMs = dice.pick([0, 0, 0, 30, 700]);
  const bulk = client.bulk(
    dice.chance(0.5) ? run.rows : slowly(world, run.rows, dice),
    toWrites,
    bulkOptions,
  );
  try {
    for await (const result of bulk) {
      if (process.isDead) return;
      run.results.push(result);
      settle(calls.get(result.item) ?? [], result);
      if (pauseMs > 0) await world.time.sleep(pauseMs);
      if (run.results.length >= leftAfter) {
        run.wasLeft = true;
        break;
      }
    }
    if (!process.isDead) run.summary = await bulk.summary();
  } catch (error) {
    run.error = error;
  }
}

/** Notes the ends of the writes of a row, and the words that were sent in place of its own. */
function settle(records: readonly CallRecord[], { status, value, kept }: BulkResult<Row, unknown>): void {
  if (status !== "succeeded") return;
  const refused = Object.fromEntries(
    Object.keys(kept ?? {}).map((channel) => [
      channel,
      channel === "is_suppressed" ? "TRUE" : "UNSUBSCRIBED",
    ]),
  );
  for (const [index, record] of records.entries()) {
    const { facts } = record;
    // Safe: a row of chaos gives an array of writes.
    Object.assign(record, {
      settledAt: performance.now(),
      value: (value as unknown[])[index],
      facts: {
        ...facts,
        consent: { ...facts.consent, ...refused },
        leavesEmailToService: facts.leavesEmailToService && kept?.email === undefined,
      },
    });
  }
}

function signalAfter(world: World, delayMs: number): AbortSignal {
  const controller = new AbortController();
  world.time.after(delayMs, () => controller.abort(new Error("the night is over")));
  return controller.signal;
}

async function* slowly(world: World, rows: readonly Row[], dice: Dice): AsyncGenerator<Row> {
  for (const row of rows) {
    await world.time.sleep(dice.int(0, 20));
    yield row;
  }
}
