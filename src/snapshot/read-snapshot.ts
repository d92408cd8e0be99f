import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import type { AudienceClient } from "../audience-client.ts";
import { isDocumented, shownConsent } from "../consent.ts";
import { AbortError, ConfigurationError } from "../errors.ts";
import { acquireLock, refusalOf } from "../files/lock.ts";
import { type Target, targetOf } from "../organization.ts";
import type { ListPage } from "../pagination/page.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import {
  functionThat,
  type Given,
  optionThat,
  optionTypes,
  parseOption,
  parseOptions,
} from "../schema/parse-options.ts";
import type { Observer } from "../transport/observer.ts";
import type { Profile } from "../v1/profile.ts";
import { hasMethods, withoutPrototype } from "../values/predicates.ts";
import { PartFile } from "./part-file.ts";
import type { SnapshotFields } from "./snapshot-contact.ts";
import { existingHeading, type Heading } from "./snapshot-file.ts";
import { maxSnapshotAgeMs, openSnapshot, recordSnapshotTarget, type Snapshot } from "./snapshot.ts";

/** Options of `readSnapshot`. */
export interface ReadSnapshotOptions {
  /** The path of the snapshot's file. A finished read replaces it in one step; beside it stands the read under way. */
  file: string;
  /**
   * What the snapshot keeps of each contact. `"consent"` (the default): id, e-mail, phone, consents, suppression and the time
   * of the last change; no name and no other address. `"all"`: every attribute too.
   */
  fields?: SnapshotFields | undefined;
  /** Ends the read with an `AbortError` when it is aborted. The next read for the same file goes on. */
  signal?: AbortSignal | undefined;
  /** Called after each page of the read. An error of it is one line of the logger, and changes nothing. */
  onProgress?: ((progress: SnapshotProgress) => void) | undefined;
  /** The order of the read's calls among those that wait: 0 (first) to 9 (last). Default 9, which leaves room for others. */
  priority?: number | undefined;
  /**
   * A name of your own for the organization, such as `"acme"`: it survives a rotation of keys. Default: a hash of the key
   * identifies it.
   */
  organization?: string | undefined;
}

/** The progress of the read of a snapshot. */
export interface SnapshotProgress {
  /** The number of contacts that have been read. */
  readonly done: number;
  /** The number of all contacts, if the service tells it. */
  readonly total?: number;
  /** The time for the remaining pages of the read, in milliseconds; present if `total` is known and the calls are limited. */
  readonly etaMs?: number;
}

const pageLimit = 100;
const hourMs = 3_600_000;

const optionsSchema = z.strictObject({
  file: optionTypes.string,
  fields: z.enum(["consent", "all"]).default("consent"),
  signal: optionTypes.signal.optional(),
  onProgress: functionThat<(progress: SnapshotProgress) => void>().optional(),
  priority: optionTypes.priority.default(9),
  organization: optionTypes.string.optional(),
});

/** The options of a read, and what it reads: the contacts of the client's organization. */
type ReadSettings = Given<z.output<typeof optionsSchema>> & {
  readonly client: AudienceClient;
  readonly target: Target;
  readonly observer: Observer;
};

const clientOption = optionThat<AudienceClient>("an AudienceClient", (value) => hasMethods(value, "opened"));

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
 * @throws ConfigurationError if an option is wrong, the file is in use or no snapshot, or its read is of another target; also
 * if the file cannot be written: then `cause` is the system's error.
 * @throws UnexpectedResponseError if two pages running bring nobody new, as of a loop over the list; the next one begins afresh.
 * @throws AudienceError of another class if a call fails; the next call goes on.
 */
export async function readSnapshot(
  audience: AudienceClient,
  options: ReadSnapshotOptions,
): Promise<Snapshot> {
  const client = parseOption(clientOption, audience, "The client of readSnapshot");
  const parsedOptions = parseOptions(optionsSchema, options, "The options of readSnapshot");
  const { file: givenFile, signal, organization } = parsedOptions;
  if (signal?.aborted) throw new AbortError({ outcome: "not-sent", cause: signal.reason });
  const opened = client.opened();
  const { observer } = opened.settings;
  const target = targetOf(organization, opened);
  const settings = withoutPrototype({ ...parsedOptions, client, target, observer });
  // A link stands for its target.
  const file = existsSync(givenFile) ? realpathSync(givenFile) : resolve(givenFile);
  const lockNotice = "readSnapshot waits up to 30 s for the lock of another read, which is not renewed";
  try {
    const lock = await acquireLock(file, () => observer.info(lockNotice));
    try {
      const olderHeading = await existingHeading(file);
      using part = new PartFile(file, lock);
      await beginOrResumeRead(part, olderHeading, settings);
      await readPages(part, settings);
      await part.finish();
      return await openSnapshot(file);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw refusalOf(error, "snapshot", file, ConfigurationError);
  }
}

/** Goes on with the part file's read of less than a day ago, or begins a new read. */
async function beginOrResumeRead(
  part: PartFile,
  olderHeading: Heading | undefined,
  { fields, target: targetNow, observer, signal = new AbortController().signal }: ReadSettings,
): Promise<void> {
  const partHeading = await part.read();
  const ageMs = Date.now() - Date.parse(partHeading?.readAt ?? "");
  // A kill may come between the last two steps: then the read has replaced the older snapshot already.
  const isNewer = partHeading?.readAt !== olderHeading?.readAt;
  const resumed = Math.abs(ageMs) <= maxSnapshotAgeMs && isNewer ? partHeading : undefined;
  const target = await recordSnapshotTarget(targetNow, resumed?.target, signal);
  // Pages that were read with another key, under no name, may be of another organization.
  if (resumed?.target.organization !== target.organization || resumed?.fields !== fields) {
    const readAt = new Date().toISOString();
    await part.begin({ audience_snapshot: 1, readAt, fields, target });
  } else if (ageMs > hourMs)
    observer.warn(
      `readSnapshot goes on with a read that was begun at ${resumed.readAt}: people of its first pages may have left since. ` +
        "Delete its .part file to begin afresh",
    );
}

async function readPages(
  part: PartFile,
  { client, observer, signal, priority, onProgress }: ReadSettings,
): Promise<void> {
  const { cursor, lineStarts } = part.state;
  if (!cursor) return;
  // A page is asked for when the page before is written: its `readAt` is the time of its asking.
  const options = { signal, priority, readAhead: 0, maxWaitMs: Infinity, deadlineMs: Infinity };
  const list = client.v1.customers.list({ page: 1, limit: pageLimit }, options);
  const ids = new Set(lineStarts.keys());
  let [hasProgressFailed, hasWarned] = [false, false];
  let readAt = new Date().toISOString();
  // A service may have smaller pages than it is asked for.
  const start = { cursor: { ...cursor, untilEmpty: true }, ids, idCount: ids.size };
  for await (const page of list.pagesAfter(start)) {
    await part.add(page, readAt);
    if (!hasWarned && page.received.some(showsOtherWord)) {
      hasWarned = true;
      observer.warn("the list shows a consent by a word that is not documented: it counts as none");
    }
    // As with bulk, an error of `onProgress` changes nothing, and is one line for all pages.
    const report = async () => onProgress?.(progressOf(lineStarts.size, page, client.rateLimiter, priority));
    report().catch((error: unknown) => {
      if (!hasProgressFailed) observer.failed("onProgress", error);
      hasProgressFailed = true;
    });
    readAt = new Date().toISOString();
  }
}

/** Whether a profile shows a consent by a word that is not documented. */
function showsOtherWord({ attributes }: Profile): boolean {
  return [...shownConsent(attributes)].some(([channel, word]) => !isDocumented(channel, word));
}

function progressOf(
  done: number,
  { totalItems: total, page, limit }: ListPage<Profile>,
  limiter: RateLimiter | undefined,
  priority: number,
): SnapshotProgress {
  if (total === undefined) return { done };
  const calls = Math.ceil(Math.max(0, total - page * limit) / pageLimit);
  return { done, total, ...(limiter && { etaMs: limiter.estimateMs(calls, { priority }) }) };
}
