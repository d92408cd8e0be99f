import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isAudienceError } from "audience-sdk";
import { act, closeLineage, defaultSteps, planOf } from "./actions.ts";
import { ChaosTime } from "./chaos-time.ts";
import { checkClosing, checkSecrets } from "./checks/leaks.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkIsCurrent, checkOrder } from "./checks/order.ts";
import { checkOutcomes } from "./checks/outcomes.ts";
import { checkRows } from "./checks/rows.ts";
import { checkEvents, checkState } from "./checks/state.ts";
import { Dice } from "./dice.ts";
import { importTable } from "./nights.ts";
import { departureHeader, forgetConsents, say } from "./process.ts";
import type { Log } from "./records.ts";
import { World } from "./world.ts";

const checks = [
  checkOutcomes,
  checkOrder,
  checkRows,
  checkEvents,
  checkIsCurrent,
  checkState,
  checkLimits,
  checkSecrets,
  checkClosing,
];

/** The promises of the contract that a world has broken. */
function check(world: World): string[] {
  return checks.flatMap((each) => each(world));
}

/** What a seed showed: the broken promises, and everything that happened. */
export interface Ended {
  readonly broken: readonly string[];
  readonly world: World;
}

const channels = ["audience-sdk:call", "audience-sdk:request"];
const mostCalmNights = 40;

/** Plays one seed, and checks every promise. */
async function runSeed(seed: number, steps = defaultSteps): Promise<Ended> {
  const dice = new Dice(seed ^ 0x5bd1e995);
  const time = new ChaosTime(dice.split());
  forgetConsents();
  let world: World | undefined;
  const broken: string[] = [];
  const unhandled = (error: unknown) => void world?.log.unhandled.push(error);
  process.on("unhandledRejection", unhandled);
  const stopListening = listen(() => world?.log);
  try {
    const end = await time.play(async () => {
      world = new World(time, dice);
      await playSteps(world, planOf(seed, steps));
      broken.push(...(await calmNights(world)));
      broken.push(...(await closeAll(world)));
    });
    if (end === "never ended") broken.push("it never ended: a promise is left that nothing settles");
  } finally {
    stopListening();
    process.off("unhandledRejection", unhandled);
  }
  linkRequests(world!);
  return { broken: [...broken, ...check(world!)], world: world! };
}

async function playSteps(world: World, steps: ReturnType<typeof planOf>): Promise<void> {
  for (const step of steps) {
    const waitMs = step.at - world.time.now();
    if (waitMs > 0) await world.time.sleep(waitMs);
    void Promise.resolve(act(world, step));
  }
  // Kills that a step has begun end by then.
  await world.time.sleep(21_000);
  await world.settled();
}

/** Without further faults every row of every table ends, as applied or reported. */
async function calmNights(world: World): Promise<string[]> {
  const broken: string[] = [];
  for (const one of world.imports) {
    for (let night = 1; one.table.rows.length > 0; night++) {
      const run = importTable(world, world.process!, one, {
        dice: world.dice,
        rows: one.table.rows,
        isCalm: true,
      });
      await world.settled();
      const open = run.results.filter(({ status, error }) => status === "failed" && !isFinal(error));
      if (run.error === undefined && open.length === 0) break;
      if (night === mostCalmNights) {
        broken.push(
          `rows of ${one.book.name} do not end in ${night} calm nights: ${String(run.error ?? open[0]?.error)}`,
        );
        break;
      }
      await world.time.sleep(60_000);
    }
  }
  return broken;
}

/** A refusal by the rules of the service, which comes again each night: of the row, or of its look. */
function isFinal(error: unknown): boolean {
  const { status, cause } = Object(error) as { status?: number; cause?: unknown };
  if (status === undefined) return cause !== undefined && isFinal(cause);
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

async function closeAll(world: World): Promise<string[]> {
  for (const index of [0, 1]) closeLineage(world, world.process!, index, world.dice);
  await world.settled();
  await world.service.mock.settled();
  // Aborted requests of before run on unseen for two seconds, and a call of a killed run's checkpoint has thirty.
  await world.time.sleep(35_000);
  const { refedTimers } = world.time;
  return refedTimers === 0 ? [] : [`${refedTimers} timers are left after every close()`];
}

/** Each departure learns how it arrived. */
function linkRequests({ log, service }: World): void {
  for (const request of service.mock.requests) {
    const departure = log.departures[Number(request.headers[departureHeader]) - 1];
    if (departure) departure.request = request;
  }
}

/** What the tracing channels tell. */
function listen(log: () => Log | undefined): () => void {
  const stops = channels.flatMap((channel) =>
    ["start", "end", "asyncStart", "asyncEnd", "error"].map((event) => {
      const name = `tracing:${channel}:${event}`;
      const onMessage = (message: unknown) => {
        const current = log();
        if (!current) return;
        say(current, channel, JSON.stringify(message));
        const { requestId, outcome, attempts } = message as {
          requestId: string;
          outcome?: string;
          attempts?: number;
        };
        if (channel === "audience-sdk:call" && event === "asyncEnd")
          current.traces.set(requestId, {
            ...(outcome !== undefined && { outcome }),
            ...(attempts !== undefined && { attempts }),
          });
      };
      subscribe(name, onMessage);
      return () => void unsubscribe(name, onMessage);
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/** Plays the seeds one after the other. The first that breaks a promise is shrunk to its fewest steps, and thrown. */
export async function playSeeds(
  seeds: Iterable<number>,
  { steps = defaultSteps, onWorld = () => {} }: { steps?: number; onWorld?: (world: World) => void } = {},
): Promise<void> {
  for (const seed of seeds) {
    const { broken, world } = await runSeed(seed, steps);
    onWorld(world);
    if (broken.length > 0) throw new Error(await report(seed, steps, broken));
  }
}

/** The first steps of a seed that still break a promise, and how to play them again. */
async function report(seed: number, steps: number, broken: readonly string[]): Promise<string> {
  let least = { steps, broken };
  for (let fewer = 1; fewer < steps; fewer++) {
    const ended = await runSeed(seed, fewer);
    if (ended.broken.length === 0) continue;
    least = { steps: fewer, broken: ended.broken };
    break;
  }
  return [
    `Seed ${seed} breaks promises of the contract, with ${least.steps} of its steps:`,
    ...least.broken.map((problem) => `- ${problem}`),
    `Play it again: CHAOS_SEED=${seed} CHAOS_STEPS=${least.steps} npm run soak -- chaos`,
  ].join("\n");
}

export function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Counts what occurred in the worlds, so that a test can say that chaos reached it. */
export class Tally {
  readonly counts = new Map<string, number>();

  readonly add = ({ log, service }: World): void => {
    this.#count("seeds");
    for (const { fault } of service.mock.requests) if (fault) this.#count(`fault ${fault}`);
    for (const variant of Object.keys(service.variants)) this.#count(`variant ${variant}`);
    for (const { error, settledAt, departures } of log.calls) {
      const outcome = isAudienceError(error) ? error.outcome : "applied";
      this.#count(settledAt === undefined ? "calls killed" : `outcome ${outcome}`);
      if (departures.length > 1) this.#count("retried calls");
    }
    for (const { results, wasKilled } of log.runs) {
      this.#count(wasKilled ? "runs killed" : "runs");
      for (const result of results) {
        const { status, item } = result;
        this.#count(`row ${status}`);
        if (item.inputs.length > 1) this.#count("rows of two writes");
        if (result.kept) this.#count("rows kept");
        if (result.status === "superseded") this.#count(`rows superseded by ${result.reason}`);
      }
    }
  };

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}
