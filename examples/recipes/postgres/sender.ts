// Sends the jobs of the queue, one process for each address; all others wait to take over.
import { setTimeout as sleep } from "node:timers/promises";
import { AudienceClient, type ClientOptions, RateLimiter, type RateLimiterSnapshot } from "audience-sdk";
import { run } from "graphile-worker";
import { Client } from "pg";
import { tasks } from "./send-jobs.ts";

export interface Sender {
  /** For all other calls from this address, such as `bulk`. */
  readonly audience: AudienceClient;
  /** Ends what is in flight, and leaves the rest to the next sender. */
  stop(): Promise<void>;
}

/** Waits until no other process sends, and sends the jobs from then on. */
export async function startSender(
  connectionString: string,
  options: ClientOptions = {},
  arrivalMs = 5_000,
): Promise<Sender> {
  // The lock lives as long as this connection. If that breaks, its error, which nobody handles, ends the process.
  const lock = new Client(connectionString);
  await lock.connect();
  await lock.query("select pg_advisory_lock(hashtext('audience'))");
  // By then the last request of a killed sender has arrived. Its job would stay locked for four hours.
  await sleep(arrivalMs);
  await lock.query(
    `select graphile_worker.force_unlock_workers(array_agg(locked_by)) from graphile_worker.jobs
     where task_identifier in ('audience_acts', 'audience_event') and locked_by is not null`,
  );
  const { rows } = await lock.query<{ count: RateLimiterSnapshot }>("select count from audience_count");
  const rateLimiter = new RateLimiter({ snapshot: rows[0]?.count });
  // Each call is counted before it leaves: after `kill -9` the next sender knows of it. And without the lock nothing leaves.
  const count = "insert into audience_count (count) values ($1) on conflict (id) do update set count = $1";
  let counted: Promise<unknown> = Promise.resolve();
  const audience = new AudienceClient({
    timeoutMs: 7_000,
    ...options,
    rateLimiter,
    async fetch(url, init) {
      counted = counted.then(() => lock.query(count, [rateLimiter.snapshot()]));
      await counted;
      return fetch(url, init);
    },
  });
  const hasToWait = (priority: number): boolean => rateLimiter.estimateMs(3, { priority }) > 2_000;
  // Events leave room for acts as rows of `bulk` do; while rows wait, they are among those for whom these leave it.
  const takesRoom = (): boolean => rateLimiter.usage().queued === 0 && hasToWait(9);
  const runner = await run({
    connectionString,
    taskList: tasks(audience),
    concurrency: 1,
    noHandleSignals: true,
    // The flag of a job is the priority of its calls: none is taken that had to wait for its permits, and hold up a refusal.
    forbiddenFlags: () =>
      ["5", "8"].filter((flag) => hasToWait(Number(flag)) || (flag === "8" && takesRoom())),
  });
  return {
    audience,
    async stop() {
      const stopped = runner.stop(); // takes no new job, and waits for the one that it has
      await audience.close();
      await stopped;
      await lock.end();
    },
  };
}
