import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { act, closeLineage } from "./actions.ts";
import { ChaosTime } from "./chaos-time.ts";
import { check } from "./check.ts";
import { Dice } from "./dice.ts";
import { departureHeader } from "./network.ts";
import { importTable } from "./nights.ts";
import { defaultSteps, planOf } from "./plan.ts";
import { forgetConsents, say } from "./process.ts";
import type { Log } from "./records.ts";
import { World } from "./world.ts";

/** What a seed showed: the broken promises, and everything that happened. */
export interface Ended {
  readonly broken: readonly string[];
  readonly world: World;
}

const channels = ["audience-sdk:call", "audience-sdk:request"];
const mostCalmNights = 40;

/** Plays one seed, and checks every promise. */
export async function runSeed(seed: number, steps = defaultSteps): Promise<Ended> {
  const dice = new Dice(seed ^ 0x5bd1e995);
  const time = new ChaosTime(dice.split());
  // Most checkpoints are in memory, as files take real time.
  const folder = dice.chance(0.05) ? mkdtempSync(join(tmpdir(), "chaos-")) : undefined;
  forgetConsents();
  let world: World | undefined;
  const broken: string[] = [];
  const unhandled = (error: unknown) => void world?.log.unhandled.push(error);
  process.on("unhandledRejection", unhandled);
  const stopListening = listen(() => world?.log);
  try {
    const end = await time.play(async () => {
      world = new World(time, dice, folder);
      await playSteps(world, planOf(seed, steps));
      broken.push(...(await calmNights(world)));
      broken.push(...(await closeAll(world)));
    });
    if (end === "never ended") broken.push("it never ended: a promise is left that nothing settles");
  } finally {
    stopListening();
    process.off("unhandledRejection", unhandled);
    if (folder) rmSync(folder, { recursive: true });
  }
  linkRequests(world!);
  return { broken: [...broken, ...check(world!)], world: world! };
}

async function playSteps(world: World, steps: ReturnType<typeof planOf>): Promise<void> {
  for (const { at, ...step } of steps) {
    const waitMs = at - world.time.now();
    if (waitMs > 0) await world.time.sleep(waitMs);
    void Promise.resolve(act(world, { at, ...step }));
  }
  // Kills and outages that a step has begun end by then.
  await world.time.sleep(21_000);
  await world.settled();
}

/** Without further faults every row of every table ends, as applied or reported. */
async function calmNights(world: World): Promise<string[]> {
  const broken: string[] = [];
  for (const one of world.imports) {
    for (let night = 1; one.table.rows.length > 0; night++) {
      const [process] = world.processes;
      const run = importTable(world, process!, one, { dice: world.dice, rows: one.table.rows, isCalm: true });
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
  for (const process of world.processes) {
    if (!process) continue;
    for (const index of [0, 1]) closeLineage(world, process, index, world.dice);
  }
  await world.settled();
  await world.service.mock.settled();
  // Aborted requests of before run on unseen for two seconds.
  await world.time.sleep(10_000);
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
