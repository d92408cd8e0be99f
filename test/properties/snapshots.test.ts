import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { openSnapshot, readSnapshot } from "audience-sdk/snapshot";
import { expect, it } from "vitest";
import { collect, temporaryFolder, World } from "../snapshot/fixture.ts";
import { timesOf } from "./runs.ts";

const nights = 4;
// Each world writes to the disk some twenty times.
const worlds = timesOf(1_000, 8);

/** Reads it until it is whole: a process that reads it may be killed before any page. */
async function readInLives(world: World, file: string) {
  for (;;) {
    const fetch = async (url: string) => {
      if (world.dice.chance(0.05)) throw new TypeError("killed");
      return await world.fetch(url);
    };
    const options = {
      baseUrl: "https://world.example",
      apiKey: "key",
      rateLimiter: false,
      maxRetries: 0,
    } as const;
    const audience = new AudienceClient({ ...options, fetch });
    try {
      return await readSnapshot(audience, { file });
    } catch {
      world.happen(3);
    }
  }
}

type Shown = World["shown"];

/** What must be told: who is new, and whose consent that is shown is another one. */
function expected(before: Shown, now: Shown): string[] {
  const names = ["email_opt_in", "phone_opt_in", "is_suppressed"] as const;
  return [...now].flatMap(([id, contact]) => {
    const earlier = before.get(id);
    if (!earlier) return [`new ${id}`];
    const isChanged = names.some((name) => contact[name] !== undefined && contact[name] !== earlier[name]);
    return isChanged ? [`consent ${id}`] : [];
  });
}

async function play(seed: number, folder: string): Promise<number> {
  const world = new World(seed);
  const [file, older] = [join(folder, `${seed}.ndjson`), join(folder, `${seed}-older.ndjson`)];
  let before: Shown | undefined;
  let told = 0;
  for (let night = 0; night < nights; night++) {
    if (before) copyFileSync(file, older);
    using today = await readInLives(world, file);
    const contacts = await collect(today);
    expect(contacts.map(({ id }) => id).toSorted(), `seed ${seed}`).toEqual(
      [...world.shown.keys()].toSorted(),
    );
    expect(Object.fromEntries(contacts.map((contact) => [contact.id, contact]))).toEqual(
      Object.fromEntries(world.shown),
    );
    if (before) {
      using yesterday = await openSnapshot(older);
      const changes = await collect(today.changesSince(yesterday));
      const names = changes.map(({ kind, contact }) => `${kind} ${contact.id}`);
      expect(names.toSorted(), `seed ${seed}`).toEqual(expected(before, world.shown).toSorted());
      for (const { contact, before: earlier } of changes) expect(earlier).toEqual(before.get(contact.id));
      told += changes.length;
    }
    before = world.shown;
    world.happen(5);
  }
  return told;
}

it("Every change of a consent is told by the first snapshot that sees the person, once, and nothing else is", async () => {
  const folder = temporaryFolder();
  let told = 0;
  for (let seed = 0; seed < worlds; seed++) told += await play(seed, folder);

  expect(told).toBeGreaterThan(0);
});
