import { cp } from "node:fs/promises";
import { join } from "node:path";
import { write } from "audience-sdk";
import type { MockRequest } from "audience-sdk/mock";
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

  async function open(speed: number): Promise<QueueWorld> {
    const world = await QueueWorld.open(folder, speed);
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

  it("lets a refusal leave before 10,000 jobs that wait for the rate limit, and ends in good order on SIGTERM", async () => {
    const world = await open(5);
    const { db, mock } = world;
    await db.query("create table people (person text primary key, email_opt_in text, phone_opt_in text)");
    await db.query(tenThousandJobs);
    await world.startEnqueuers(1);
    const sender = await world.nextSender();
    // What priority 9 may use of a minute, but for what its next job may need.
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(87));

    const contact = { email: "bob@example.com", first_name: "Bob", email_opt_in: "UNSUBSCRIBED" };
    await world.enqueue({ person: "bob", contact, isForList: false, isRolledBack: false }, 0);
    const sentBefore = mock.requests.length;
    const isRefusal = (request: MockRequest): boolean => JSON.stringify(request.body).includes(contact.email);
    await eventually(() => expect(mock.requests.some(isRefusal)).toBe(true));

    // After the job that was under way; and within the minute, for whose end the others wait.
    expect(mock.requests.findIndex(isRefusal) - sentBefore).toBeLessThanOrEqual(1);
    expect(mock.requests.findIndex(isRefusal)).toBeLessThan(100);
    expect(await sender.end("SIGTERM")).toBe(0);
    // None is lost; one whose response came too late stays, and is sent again under its id.
    const { rows } = await db.query<{ open: string }>("select count(*) as open from graphile_worker.jobs");
    const { events } = mock.organization("mock-organization");
    expect(Number(rows[0]!.open) + events.length).toBeGreaterThanOrEqual(10_000);
  });

  it("keeps what the service refuses for good in a table, and sends the rest", async () => {
    const world = await open(60);
    const { db, mock } = world;
    const email = "ada@example.com";
    const [list, optOut] = [
      write.v1.contactGroups.addContact("no-list", { email, email_opt_in: "SUBSCRIBED" }),
      write.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" }),
    ];
    const acts = [list, optOut].map((act) => ({ at: "2026-01-01T00:00:00Z", write: act }));
    await db.query("insert into audience_people values ('ada', null, $1)", [JSON.stringify(acts)]);
    await db.query(`select graphile_worker.add_job('audience_acts', '{"person":"ada"}')`);
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
});

const tenThousandJobs = `
  select count(*) from graphile_worker.add_jobs((
    select array_agg(('audience_event', json_build_object('operation', 'v1.events.send', 'event', json_build_object(
      'eventName', 'signed_up', 'contact', json_build_object('email', 'ada@example.com'), 'uniqueIdentifier', n::text
    )), null, null, null, null, 1, '{9}')::graphile_worker.job_spec) from generate_series(1, 10000) n
  ))`;
