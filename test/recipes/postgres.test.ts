import { cp } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { write, type Write } from "audience-sdk";
import type { MockContactSeed } from "audience-sdk/mock";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { sayNotRun } from "../package/programs.ts";
import { repository } from "../project/source-files.ts";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { Histories, rolledBack } from "./histories.ts";
import { hasPostgres } from "./postgres-server.ts";
import { QueueWorld } from "./queue-world.ts";
import { compileRecipe } from "./server-program.ts";

const installed = inject("projects").postgres;
if (!hasPostgres)
  sayNotRun("the recipe for PostgreSQL: there is no postgres (Debian: apt-get install postgresql)");

it("there is a PostgreSQL, where CI=true", () => {
  expect(hasPostgres || process.env["CI"] !== "true").toBe(true);
});

const folders = hasPostgres && installed !== undefined ? [installed] : [];

describe.each(folders)("The recipe for PostgreSQL", (folder) => {
  beforeAll(() => cp(join(repository, "test/recipes/postgres"), folder, { recursive: true }));

  it("compiles with the types of graphile-worker and pg", async () => {
    expect(await compileRecipe(folder, {})).toBe("");
  });

  async function open(speed: number, contacts?: MockContactSeed[]): Promise<QueueWorld> {
    const world = await QueueWorld.open(folder, speed, contacts);
    onTestFinished(() => world.close());
    return world;
  }
  it("keeps each person's last word over 200 random histories, with kills, rollbacks, clicks and profile changes", async () => {
    const world = await open(600);
    const { mock } = world;
    const random = randomFrom(1);
    const histories = new Histories(world, 200, random);
    await histories.begin();
    const before = mock.requests.length;
    await world.startEnqueuers(4);
    for (const kind of ["reset-after", "500-before"] as const) mock.addFault({ kind, probability: 0.01 });

    const lives = { areOver: false };
    const lived = histories.run().finally(() => (lives.areOver = true));
    // Each sender sends the profiles beside its jobs, and is killed somewhere within.
    while (!lives.areOver) {
      const sender = await world.nextSender();
      sender.sendProfiles();
      const sent = mock.requests.length + 50 + 200 * random();
      await eventually(() => expect(lives.areOver || mock.requests.length >= sent).toBe(true));
      await sender.end("SIGKILL");
    }
    await lived;
    const last = await world.nextSender();
    last.sendProfiles();
    await world.isEmpty();
    await eventually(() => expect(last.runs).toHaveLength(1));
    const failed = world.senders.flatMap(({ runs }) => runs.filter(({ error }) => error !== undefined));
    expect(failed).toEqual([]);

    const { wrong, undone, held } = await histories.judge();
    expect(wrong).toEqual([]);
    // Named in the guide, and rare.
    expect(undone.length + held.length).toBeLessThan(20);
    const requests = mock.requests.slice(before);
    expect(requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(requests.filter(({ body }) => JSON.stringify(body)?.includes(rolledBack))).toEqual([]);
    const events = mock
      .organization("mock-organization")
      .events.map(({ uniqueIdentifier }) => uniqueIdentifier);
    expect(events).toHaveLength(histories.events.length);
    expect(new Set(events)).toEqual(new Set(histories.events));
    const names = requests.map(({ headers }) => headers["x-sender"]);
    const turns = names.filter((name, index) => name !== names[index - 1]);
    expect(turns).toEqual([...new Set(turns)]);
    expect(await last.end("SIGTERM")).toBe(0);
  });

  it("lets refusals leave before 10,000 jobs that wait for the rate limit, and ends in good order on SIGTERM", async () => {
    const world = await open(5);
    const { db, mock } = world;
    await world.createPeople();
    await db.query(tenThousandJobs);
    await world.startEnqueuers(1);
    const sender = await world.nextSender();
    // An event leaves a tenth of the minute, and what its next job may need.
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(87));

    const refusals = ["bob", "cleo", "dan", "eve", "fay"].map((person) => ({
      email: `${person}@example.com`,
      email_opt_in: "UNSUBSCRIBED",
    }));
    for (const contact of refusals)
      await world.enqueue({ person: contact.email, contact, isForList: false, isRolledBack: false }, 0);
    const sentBefore = mock.requests.length;
    const bodies = (): unknown[] => mock.requests.map(({ body }) => body);
    await eventually(() => expect(bodies()).toEqual(expect.arrayContaining(refusals)));

    // After the job that was under way; and within the minute, for whose end the others wait.
    const places = refusals.map((refusal) => bodies().findIndex((body) => isDeepStrictEqual(body, refusal)));
    expect(Math.min(...places) - sentBefore).toBeLessThanOrEqual(1);
    expect(Math.max(...places)).toBeLessThan(100);
    expect(await sender.end("SIGTERM")).toBe(0);
    // None is lost; one whose response came too late stays, and is sent again under its id.
    const { rows } = await db.query<{ open: string }>("select count(*) as open from graphile_worker.jobs");
    const { events } = mock.organization("mock-organization");
    expect(Number(rows[0]!.open) + events.length).toBeGreaterThanOrEqual(10_000);
  });

  it("sends refusals of every kind before opt-ins, and these before events", async () => {
    const world = await open(60);
    await world.createPeople();
    await world.startEnqueuers(1);
    const contacts = [
      { email: "ada@example.com", email_opt_in: "SUBSCRIBED" },
      { email: "bob@example.com", email_opt_in: "UNSUBSCRIBED" },
      { phone: "+4930123456", phone_opt_in: "UNSUBSCRIBED" },
      { email: "cleo@example.com", is_suppressed: true },
    ] as const;
    for (const [index, contact] of contacts.entries()) {
      const event = index === 0 && { eventId: "event-1" };
      await world.enqueue(
        { person: `${index}`, contact, isForList: false, ...event, isRolledBack: false },
        0,
      );
    }
    await world.nextSender();
    await world.isEmpty();

    const [optIn, ...refusals] = contacts;
    const bodies = world.mock.requests.map(({ body }) => body);
    expect(bodies).toMatchObject([...refusals, optIn, { uniqueIdentifier: "event-1" }]);
  });

  it("sends an act and then an event beside a run of bulk that waits for the hour, before its next row", async () => {
    const contacts = Array.from({ length: 500 }, (_, order) => ({ email: `person${order}@example.com` }));
    const world = await open(60, contacts);
    const { db, mock } = world;
    await world.createPeople();
    await db.query(
      "insert into people select 'person' || n, 'person' || n || '@example.com', 'Berlin' from generate_series(0, 499) n",
    );
    await world.startEnqueuers(1);
    const sender = await world.nextSender();
    sender.sendProfiles();
    await eventually(() => expect(mock.requests).toHaveLength(900));

    const act = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
    const eventId = "event-1";
    await world.enqueue({ person: "ada", contact: act, isForList: false, eventId, isRolledBack: false }, 0);
    await eventually(() => expect(mock.organization("mock-organization").events).toHaveLength(1));

    expect(mock.requests.slice(900)).toMatchObject([{ body: act }, { body: { uniqueIdentifier: eventId } }]);
    expect(sender.runs).toEqual([]);
  });

  it("keeps what the service refuses for good in a table, and sends the rest", async () => {
    const world = await open(60);
    const { db, mock } = world;
    const email = "ada@example.com";
    const [list, optOut] = [
      write.v1.contactGroups.addContact("no-list", { email, email_opt_in: "SUBSCRIBED" }),
      write.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" }),
    ];
    await addWaiting(world, { person: "ada", writes: [list, optOut] });
    await world.nextSender();
    await world.isEmpty();

    const optIns = { email_opt_in: "UNSUBSCRIBED" };
    expect(mock.requests).toMatchObject([
      { status: 404, body: optIns },
      { status: 201, body: optIns },
    ]);
    expect(mock.organization("mock-organization").contacts).toMatchObject([optIns]);
    const { rows } = await db.query("select write, reason from audience_unsent");
    const reason = expect.stringContaining("no list has this id") as string;
    expect(rows).toEqual([{ write: list, reason }]);
  });

  it("takes a suppression as a word of its own: it stands until she says otherwise, and nothing asks her to confirm", async () => {
    const [ada, bo] = ["ada@example.com", "bo@example.com"];
    const world = await open(60, [{ id: "bo", email: bo, is_suppressed: true }]);
    const writes = [
      { email: ada, is_suppressed: true },
      { email: ada, email_opt_in: "SUBSCRIBED", double_opt_in: true } as const,
    ].map((contact) => write.v1.customers.upsert(contact));
    await addWaiting(world, { person: "ada", writes });
    const returns = { email: bo, email_opt_in: "SUBSCRIBED", is_suppressed: false } as const;
    await addWaiting(world, { person: "bo", id: "bo", writes: [write.v1.customers.upsert(returns)] });
    await world.nextSender();
    await world.isEmpty();

    const optIns = world.mock.requests.filter(({ method }) => method === "POST").map(({ body }) => body);
    const optIn = { email: ada, email_opt_in: "SUBSCRIBED", is_suppressed: true };
    expect(optIns).toEqual(expect.arrayContaining([optIn, optIn, returns]));
    expect(optIns).toHaveLength(3);
  });
});

/** Acts that a person has just done, as `addActs` leaves them. */
async function addWaiting(
  { db }: QueueWorld,
  { person, id, writes }: { person: string; id?: string; writes: readonly Write[] },
): Promise<void> {
  const acts = writes.map((each) => ({ at: new Date(), write: each }));
  await db.query("insert into audience_people values ($1, $2, $3)", [person, id, JSON.stringify(acts)]);
  await db.query("select graphile_worker.add_job('audience_acts', json_build_object('person', $1::text))", [
    person,
  ]);
}

const tenThousandJobs = `
  select count(*) from graphile_worker.add_jobs((
    select array_agg(('audience_event', json_build_object('operation', 'v1.events.send', 'event', json_build_object(
      'eventName', 'signed_up', 'contact', json_build_object('email', 'ada@example.com'), 'uniqueIdentifier', n::text
    )), null, null, null, null, 1, '{8}')::graphile_worker.job_spec) from generate_series(1, 10000) n
  ))`;
