import { existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import type { ListOptions } from "audience-sdk";
import { readSnapshot } from "audience-sdk/snapshot";
import { all } from "./book.ts";
import type { Dice } from "./dice.ts";
import { listIds } from "./inputs.ts";
import { organization } from "./nights.ts";
import type { Lineage, Process } from "./process.ts";
import type { ListRecord } from "./records.ts";
import type { World } from "./world.ts";

/** Reads a list while others write, to its end or not. */
export async function readList(world: World, process: Process, lineage: Lineage, dice: Dice): Promise<void> {
  const { log, time } = world;
  const { v1, v2 } = dice.pick(lineage.views);
  const options: ListOptions = { ...(dice.chance(0.5) && { readAhead: dice.int(0, 3) }) };
  const limit = world.audience ? dice.int(50, 100) : dice.int(1, 4);
  const query = dice.chance(0.8) ? { limit } : {};
  const call = world.newCall(lineage, undefined, options);
  const o = { ...options, ...world.tagged(call) };
  const list = dice.pick(["customers", "groups", "lists"] as const);
  const items: AsyncIterable<unknown> & { toArray: () => Promise<unknown[]> } =
    list === "customers"
      ? v1.customers.list(query, o)
      : list === "groups"
        ? v1.contactGroups.list({ ...query, type: "LIST" }, o)
        : v2.lists.list(query, o);
  const { contacts } = world.service.mock.organization("chaos");
  const before = list === "customers" ? contacts.map(({ id }) => id) : listIds;
  const record: ListRecord = { list, call, before, received: [], isWhole: false };
  log.lists.push(record);
  const left = dice.chance(0.2) ? dice.int(1, 5) : Infinity;
  const pauseMs = dice.pick([0, 0, 5, 400]);
  const read = async () => {
    if (left === Infinity && dice.chance(0.3)) {
      record.received.push(...(await items.toArray()).map(idOf));
    } else {
      for await (const item of items) {
        record.received.push(idOf(item));
        if (pauseMs > 0) await time.sleep(pauseMs);
        if (record.received.length >= left) return;
      }
    }
    record.isWhole = true;
  };
  await world.watch(process, call, read());
}

function idOf(item: unknown): string {
  // Safe: an item of one of the three lists.
  const { id, uuid } = item as { id?: string; uuid?: string };
  return id ?? uuid ?? "";
}

/** Reads the audience into its file, or goes on with a read that was killed or has failed. */
export async function readAudience(world: World, process: Process, { views }: Lineage): Promise<void> {
  const { audience, log, time } = world;
  if (!audience || audience.isRunning) return;
  const { file, fields } = audience;
  audience.isRunning = true;
  // What has no page yet begins afresh.
  if (!hasPages(`${file}.part`)) audience.begunAt = undefined;
  audience.begunAt ??= time.now();
  void process.died.then(() => {
    if (!process.isReading) return;
    audience.isRunning = false;
    tearOff(`${file}.part`, world.dice);
  });
  process.isReading = true;
  try {
    const snapshot = await readSnapshot(views[0]!, { file, fields, organization });
    if (process.isDead) return snapshot.close();
    const endedAt = time.now();
    const [contacts, before] = [await all(snapshot), log.snapshots.at(-1)?.snapshot];
    const changes =
      before && (await all(snapshot.changesSince(before)).catch((error: unknown) => ({ error })));
    log.snapshots.push({
      snapshot,
      begunAt: audience.begunAt,
      endedAt,
      contacts,
      changes: Array.isArray(changes) ? changes : undefined,
      changesError: Array.isArray(changes) ? undefined : changes?.error,
    });
    audience.begunAt = undefined;
  } finally {
    if (!process.isDead) process.isReading = audience.isRunning = false;
  }
}

/** Whether a read has written a whole page. */
function hasPages(file: string): boolean {
  return existsSync(file) && /^\{"page":.*\n/m.test(readFileSync(file, "utf8"));
}

/** A crash of the machine may lose the end of what was written. */
function tearOff(file: string, dice: Dice): void {
  if (!existsSync(file) || dice.chance(0.5)) return;
  const { size } = statSync(file);
  // Its heading was stored long before.
  if (size > 2_000) truncateSync(file, size - dice.int(1, 1_500));
}
