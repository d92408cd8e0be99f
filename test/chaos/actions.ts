import type { CallOptions } from "audience-sdk";
import { Dice } from "./dice.ts";
import { anyInput, emailOf, listIds, newEmailOf, people, phoneOf } from "./inputs.ts";
import { importTable } from "./nights.ts";
import { forgetConsents, type Lineage, type Process } from "./process.ts";
import type { CallRecord } from "./records.ts";
import { anyFault } from "./service.ts";
import { type World, withAttempts } from "./world.ts";

const usual = {
  write: 14,
  read: 4,
  click: 3,
  night: 5,
  fault: 9,
  strangers: 1,
  kill: 2,
  close: 1,
};

export type Act = keyof typeof usual;

type Weights = Record<Act, number>;

/** Night after night, with writes between and during them. */
const manyNights: Weights = { ...usual, click: 9, night: 20, read: 0, fault: 5 };

/** One thing that happens; its own seed decides everything about it. */
export interface Step {
  readonly at: number;
  readonly name: Act;
  readonly seed: number;
}

export const defaultSteps = 30;

/** The steps of a seed, in the order of their times. Fewer steps are the first ones of the same. */
export function planOf(seed: number, steps: number): Step[] {
  const dice = new Dice(seed);
  const weights = dice.chance(0.3) ? manyNights : usual;
  const acts = Object.entries(weights).flatMap(([name, weight]) => Array<string>(weight).fill(name));
  // Bursts, and pauses in which everything ends.
  const pauses = dice.pick([
    [0, 0, 1, 20, 300],
    [0, 0, 0, 50, 4_000],
    [0, 1, 15_000],
  ]);
  let at = 0;
  return Array.from({ length: steps }, (): Step => {
    at += dice.pick(pauses);
    // Safe: one of the keys.
    return { at, name: dice.pick(acts) as Act, seed: dice.int(0, 2 ** 30) };
  });
}

type Action = (world: World, dice: Dice) => void | Promise<void>;

/** Each act starts something and does not wait for its end. */
const actions: Record<Act, Action> = {
  write(world, dice) {
    withClient(world, dice, (process, lineage) => {
      const record = world.newCall(lineage, anyInput(dice, dice.pick(world.people)), anyOptions(dice));
      abortSometimes(world, record, dice);
      return world.write(process, lineage, record, dice);
    });
  },
  read(world, dice) {
    withClient(world, dice, (process, lineage) => {
      const { v1 } = dice.pick(lineage.views);
      const record = world.newCall(lineage, undefined, anyOptions(dice));
      abortSometimes(world, record, dice);
      const o = world.tagged(record);
      const call = dice.chance(0.5)
        ? v1.customers.get(`uuid-${dice.pick(people)}`, o)
        : v1.contactGroups.get(dice.pick([...listIds, "list-gone"]), o);
      return world.watch(process, record, dice.chance(0.5) ? call : withAttempts<unknown>(call, record));
    });
  },
  night(world, dice) {
    const { process } = world;
    const one = dice.pick(world.imports);
    if (process && !one.isRunning) importTable(world, process, one, { dice, rows: one.table.nextNight() });
  },
  click(world, dice) {
    const person = dice.pick(world.people);
    const names = [emailOf(person), newEmailOf(person), phoneOf(person)];
    const { mock } = world.service;
    const click = dice.chance(0.8) ? mock.unsubscribe : mock.confirm;
    try {
      click(dice.pick(names), { organization: "chaos" });
    } catch {
      // The service does not know the name, or has asked for no confirmation.
    }
  },
  fault(world, dice) {
    world.service.mock.addFault(anyFault(dice));
  },
  /** Other programs behind the same IP. */
  async strangers({ service, log }, dice) {
    log.isVisitedByStrangers = true;
    const { mock, keys, variants } = service;
    const [baseUrl, key] = [variants.baseUrl ?? mock.clientOptions.baseUrl, keys[0]!];
    const headers = { "x-api-key": key, "service-app-id": "chaos-app" };
    const visits = Array.from({ length: dice.int(1, 6) }, () =>
      mock.fetch(`${baseUrl}/api/v1/contact-groups`, { headers }),
    );
    await Promise.allSettled(visits);
  },
  async kill(world, dice) {
    if (!world.process) return;
    world.process.die();
    forgetConsents();
    world.process = undefined;
    await world.time.sleep(dice.pick([0, 10, 2_000, 20_000]));
    world.process = world.newProcess();
  },
  close(world, dice) {
    const { process } = world;
    if (!process) return;
    const index = dice.int(0, 1);
    closeLineage(world, process, index, dice);
    process.reopen(index);
  },
};

export function act(world: World, { name, seed }: Step): void | Promise<void> {
  return actions[name](world, new Dice(seed));
}

export function closeLineage(world: World, process: Process, index: number, dice: Dice): void {
  const lineage = process.lineages[index]!;
  const drain = dice.chance(0.5);
  const record = { client: lineage.name, drain, startedAt: performance.now() };
  world.log.closes.push(record);
  world.follow(process, async () => {
    await lineage.views[0]!.close({ drain });
    if (!process.isDead) Object.assign(record, { endedAt: performance.now() });
  });
}

/** Failures of calls are in their records. */
function withClient(
  world: World,
  dice: Dice,
  work: (process: Process, lineage: Lineage) => Promise<unknown>,
): void {
  const { process } = world;
  if (!process) return;
  const lineage = dice.pick(process.lineages);
  world.follow(process, () =>
    work(process, lineage).then(
      () => undefined,
      () => undefined,
    ),
  );
}

function anyOptions(dice: Dice): CallOptions {
  return {
    ...(dice.chance(0.1) && { deadlineMs: dice.pick([50, 1_000, 10_000]) }),
    ...(dice.chance(0.1) && { maxWaitMs: dice.pick([0, 500, 5_000]) }),
    ...(dice.chance(0.2) && { maxRetries: dice.int(0, 6) }),
    ...(dice.chance(0.2) && { priority: dice.int(0, 9) }),
    ...(dice.chance(0.05) && { repeatable: dice.chance(0.5) }),
    ...(dice.chance(0.15) && { signal: new AbortController().signal }),
  };
}

/** Aborts the call's signal, if it has one, at a random time. */
function abortSometimes(world: World, record: CallRecord, dice: Dice): void {
  if (!record.options.signal) return;
  const controller = new AbortController();
  Object.assign(record.options, { signal: controller.signal });
  world.time.after(dice.pick([0, 1, 10, 200, 1_500, 20_000]), () => {
    record.abortedAt = performance.now();
    controller.abort(new Error("the caller left"));
  });
}
