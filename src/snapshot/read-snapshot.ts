import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import type { AudienceClient } from "../audience-client.ts";
import { AbortError } from "../errors.ts";
import { acquireLock } from "../files/lock.ts";
import { recordTarget } from "../organization.ts";
import { type Given, optionThat, optionTypes, parseOption, parseOptions } from "../schema/parse-options.ts";
import { hasMethods } from "../values/predicates.ts";
import type { SnapshotFields } from "./contact.ts";
import { openSnapshot } from "./open-snapshot.ts";
import { existingHeading, fileError, fileOption, type Heading, targetSalt } from "./snapshot-file.ts";
import type { Snapshot } from "./snapshot.ts";
import type { SnapshotSource } from "./source.ts";
import { WorkFile } from "./work-file.ts";

/** Options of `readSnapshot`. */
export interface ReadSnapshotOptions {
  /** The path of the snapshot. A finished one replaces it in one step; beside it stands the read that is under way. */
  file: string;
  /**
   * What is kept of each contact. `"consent"` (the default): id, e-mail, phone, consents, suppression and the time of the
   * last change; no name and no other address. `"all"`: every attribute too.
   */
  fields?: SnapshotFields | undefined;
  /** Ends the read with an `AbortError` when it is aborted. The next one for the same file goes on. */
  signal?: AbortSignal | undefined;
  /** Called after each page. An error of it is one line of the logger, and changes nothing. */
  onProgress?: ((progress: SnapshotProgress) => void) | undefined;
  /** The order of its calls among those that wait: 0 (first) to 9 (last). Default 9, which leaves room for others. */
  priority?: number | undefined;
  /**
   * A name of your own for the organization, such as `"acme"`: it survives a rotation of keys. Default: a hash of the key
   * identifies it.
   */
  organization?: string | undefined;
}

/** The progress of a read. */
export interface SnapshotProgress {
  /** The number of contacts that have come. */
  readonly done: number;
  /** The number of all contacts, if the service tells it. */
  readonly total?: number;
  /** The time for the remaining pages, in milliseconds, from the rate limiter; present if `total` is known. */
  readonly etaMs?: number;
}

const pageLimit = 100;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const optionsSchema = z.strictObject({
  file: fileOption,
  fields: z.enum(["consent", "all"]).default("consent"),
  signal: optionTypes.signal.optional(),
  onProgress: optionTypes.function.optional(),
  priority: optionTypes.priority.default(9),
  organization: optionTypes.string.optional(),
});

type Settings = ReadSnapshotOptions & Required<Given<Pick<ReadSnapshotOptions, "fields" | "priority">>>;

const clientOption = optionThat<AudienceClient>("an AudienceClient", (value) =>
  hasMethods(value, "snapshotSource"),
);

/**
 * Reads all contacts of the service into a file (`GET /api/v1/customer`), 100 a call: 90,000 contacts in nine minutes of an
 * idle budget, 100,000 in an hour. After a kill or an abort the next call with the same file goes on, after more than an
 * hour with a line at `"warn"`; what was begun over a day ago begins afresh. One read of a file at a time.
 *
 * The file is NDJSON, readable by its owner alone: a line about the read, and then each contact once. If a contact comes
 * twice, as the list shifts while it is read, the stricter consent of the two counts in each channel.
 *
 * ```ts
 * using today = await readSnapshot(audience, { file: "audience.ndjson" });
 * console.log(today.size, today.complete, today.find({ email: "ada@example.com" }));
 * ```
 *
 * @throws ConfigurationError if an option is wrong, the file is in use or no snapshot, or its read is of another target.
 * @throws UnexpectedResponseError if two pages running bring nobody new, as of a loop over the list; the next one begins afresh.
 * @throws AudienceError of another class if a call fails; the next call goes on.
 */
export async function readSnapshot(
  audience: AudienceClient,
  options: ReadSnapshotOptions,
): Promise<Snapshot> {
  const client = parseOption(clientOption, audience, "The client of readSnapshot");
  // Safe: the schema has checked all but what the functions take.
  const settings = parseOptions(optionsSchema, options, "The options of readSnapshot") as Settings;
  const source = client.snapshotSource(settings.organization);
  throwIfAborted(settings.signal);
  const named = resolve(settings.file);
  // A link stands for its target.
  const file = existsSync(named) ? realpathSync(named) : named;
  const waits = "readSnapshot waits up to 30 s for the lock of another read, which is not renewed";
  try {
    const lock = await acquireLock(file, () => source.observer.info(waits));
    try {
      const older = await existingHeading(file);
      const work = new WorkFile(file, lock);
      try {
        await beginOrGoOn(work, { older, source, settings });
        await readPages(client, { work, source, settings });
        await work.finish();
      } finally {
        work.close();
      }
      return await openSnapshot(file);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw fileError(error, file);
  }
}

interface Reading {
  readonly source: SnapshotSource;
  readonly settings: Settings;
}

/** Goes on with a read of less than a day ago, or begins one. */
async function beginOrGoOn(
  work: WorkFile,
  { older, source, settings }: Reading & { older: Heading | undefined },
): Promise<void> {
  const found = await work.read();
  const ageMs = Date.now() - Date.parse(found?.readAt ?? "");
  // A kill may come between the last two steps: then it has replaced the older one already.
  const begun = Math.abs(ageMs) <= dayMs && found?.id !== older?.id ? found : undefined;
  const signal = settings.signal ?? new AbortController().signal;
  const salt = targetSalt(source.target);
  const target = await recordTarget(source.target, begun?.target, { salt, signal, what: "snapshot" });
  const { fields } = settings;
  // Pages that were read with another key, under no name, may be of another organization.
  if (begun?.target.organization !== target.organization || begun?.fields !== fields) {
    const readAt = new Date().toISOString();
    work.begin({ audience_snapshot: 1, id: crypto.randomUUID(), readAt, fields, target });
  } else if (ageMs > hourMs)
    source.observer.warn(
      `readSnapshot goes on with a read that was begun at ${begun.readAt}: people of its first pages may have left since. ` +
        "Delete its .part file to begin afresh",
    );
}

async function readPages(
  audience: AudienceClient,
  { work, source, settings }: Reading & { work: WorkFile },
): Promise<void> {
  const { signal, priority } = settings;
  const report = progressReporter(source, settings);
  // A page is asked for when the one before is written: its time is that of its asking.
  const options = { signal, priority, readAhead: 0, maxWaitMs: Infinity, deadlineMs: Infinity };
  const list = audience.v1.customers.list({ page: 1, limit: pageLimit }, options);
  const { cursor, starts } = work.state;
  if (!cursor) return;
  const ids = new Set(starts.keys());
  let readAt = new Date().toISOString();
  for await (const page of list.pagesAfter({ cursor, ids, idCount: ids.size })) {
    await work.add(page, readAt);
    report({ done: starts.size, total: page.totalItems, passed: page.page * page.limit });
    readAt = new Date().toISOString();
  }
}

/** As with bulk, an error of `onProgress` changes nothing, and is one line for all pages. */
function progressReporter(
  { limiter, observer }: SnapshotSource,
  { onProgress, priority }: Settings,
): (progress: { done: number; total: number | undefined; passed: number }) => void {
  let hasFailed = false;
  return ({ done, total, passed }) => {
    if (!onProgress) return;
    const calls = Math.ceil(Math.max(0, (total ?? 0) - passed) / pageLimit);
    const etaMs = total === undefined ? undefined : limiter?.estimateMs(calls, { priority });
    const progress = { done, ...(total !== undefined && { total }), ...(etaMs !== undefined && { etaMs }) };
    void (async () => onProgress(progress))().catch((error: unknown) => {
      if (!hasFailed) observer.failed("onProgress", error);
      hasFailed = true;
    });
  };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError({ outcome: "not-sent", cause: signal.reason });
}
