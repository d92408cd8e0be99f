import * as z from "zod";
import { type Consent, type ConsentWrite, decidedByService } from "../consent.ts";
import { ConfigurationError, type Outcome } from "../errors.ts";
import type { ConsentWatch } from "../transport/client-state.ts";
import type { RecordedRun } from "./checkpoint.ts";
import { hasMet, type RecordedRow } from "./row-record.ts";
import { isNoLater, isRefusal, type StatedLines } from "./stated-consent.ts";

/** One contact's consent that other calls wrote, by channel. */
type LoggedConsent = Readonly<Record<string, LoggedChannel>>;

interface LoggedChannel {
  /** The possible statuses: one, or several after a write with an unknown outcome. */
  readonly statuses: readonly string[];
  /** The number of the run in which it was written, if the checkpoint has been opened again since. */
  readonly run?: number;
  /** The statuses in its record, if that is read later, are possible too. */
  readonly isOpen?: boolean;
}

/**
 * The consents that other calls of this client wrote after the run began: no row of the run overrides them. While a
 * checkpoint is open, each is recorded before it is sent, so that it also binds the run that continues after a crash.
 */
export class ConsentLog implements ConsentWatch {
  /** By contact; without the writes in flight. */
  readonly #logged = new Map<string, LoggedConsent>();
  readonly #inFlight = new Set<ConsentWrite>();
  /** The contacts whose record is known: it has been read, or written here. */
  readonly #known = new Set<string>();
  #run: RecordedRun | undefined;
  /** The end of the last operation on the checkpoint; they run one after the other. */
  #lastOperation = Promise.resolve();

  /** Records in a checkpoint that has been opened: what was written while it was opened, and from now on every write. */
  async recordIn(run: RecordedRun): Promise<void> {
    this.#run = run;
    const inFlight = [...this.#inFlight].flatMap(({ contacts }) => contacts);
    await this.#recordAll([...this.#logged.keys(), ...inFlight]);
  }

  async begins(write: ConsentWrite): Promise<void> {
    this.#inFlight.add(write);
    await this.#recordAll(write.contacts);
  }

  ended(write: ConsentWrite, outcome: Outcome, { contacts, consent } = write): void {
    this.#inFlight.delete(write);
    if (outcome === "applied" || outcome === "unknown")
      for (const contact of contacts)
        this.#logged.set(contact, merge(this.#logged.get(contact), consent, outcome));
    void this.#recordAll(contacts);
  }

  /** Reads the records of the contacts for `supersedes`. */
  async load(contacts: readonly string[]): Promise<void> {
    await this.#enqueue(async (run) => {
      for (const contact of contacts) await this.#read(run, contact);
    });
  }

  /**
   * Whether a later consent supersedes a row: one that was written during this run, or one of an earlier run, unless the row
   * has made its decision since. `stated` are the lines of the row's calls so far.
   *
   * In a run that goes on, the decision of a row may be later or earlier than such a consent: a refusal is superseded for
   * this run only, and any other decision, which is `"in-question"`, until it changes.
   */
  supersedes(
    { contacts, consent }: ConsentWrite,
    before: RecordedRow | undefined,
    stated: StatedLines,
  ): "for-this-run" | "until-it-changes" | "in-question" | undefined {
    const { since = 0 } = this.#run ?? {};
    const isNew = !hasMet(this.#run, before);
    const others = contacts
      .flatMap((contact) => Object.entries(this.#logged.get(contact) ?? {}))
      .filter(([channel, { statuses }]) =>
        statuses.some((status) => status === decidedByService || status !== consent[channel]),
      )
      // Without a number it was written after the row was read.
      .map(([channel, { run = Infinity }]) => ({ channel, run }));
    const isLater = ({ channel, run }: { channel: string; run: number }) =>
      (isNew && run >= since) ||
      // A row that is new since an earlier run may state the later consent.
      (before !== undefined && isNoLater(before.consent, { channel, lines: stated, run }));
    if (others.some(isLater)) return "until-it-changes";
    const ofThisRun = others.filter(({ run }) => run >= since);
    if (ofThisRun.length === 0) return undefined;
    return ofThisRun.every(({ channel }) => isRefusal(consent[channel])) ? "for-this-run" : "in-question";
  }

  /** Resolves when everything so far is recorded. */
  async recorded(): Promise<void> {
    await this.#lastOperation;
  }

  async #recordAll(contacts: readonly string[]): Promise<void> {
    await this.#enqueue(async (run) => {
      for (const contact of contacts) await this.#record(run, contact);
    });
  }

  /** A write in flight is recorded as one that may have been applied. */
  async #record(run: RecordedRun, contact: string): Promise<void> {
    await this.#read(run, contact);
    this.#known.add(contact);
    const pending = [...this.#inFlight].filter(({ contacts }) => contacts.includes(contact));
    const possible = pending.reduce(
      (logged, { consent }) => merge(logged, consent, "unknown"),
      this.#logged.get(contact) ?? {},
    );
    const channels = Object.entries(possible).map(([name, channel]) => [
      name,
      { run: channel.run ?? run.number, statuses: channel.statuses },
    ]);
    const value = channels.length > 0 ? JSON.stringify(Object.fromEntries(channels)) : undefined;
    await run.set(`consent:${contact}`, value, { flush: pending.length > 0 });
  }

  async #read(run: RecordedRun, contact: string): Promise<void> {
    if (this.#known.has(contact)) return;
    const value = await run.get(`consent:${contact}`);
    if (value === undefined) return;
    const logged = this.#logged.get(contact);
    const recorded = Object.entries(decode(value, run)).map(([name, channel]): [string, LoggedChannel] => {
      const own = logged?.[name];
      if (own?.isOpen) return [name, { statuses: [...new Set([...channel.statuses, ...own.statuses])] }];
      return [name, own ?? channel];
    });
    this.#known.add(contact);
    this.#logged.set(contact, { ...logged, ...Object.fromEntries(recorded) });
  }

  /** A failure of the checkpoint ends the run (`RecordedRun`), but not the write that is being recorded. */
  async #enqueue(operation: (run: RecordedRun) => Promise<void>): Promise<void> {
    const run = this.#run;
    if (!run) return;
    this.#lastOperation = this.#lastOperation.then(() => operation(run)).catch(() => undefined);
    await this.#lastOperation;
  }
}

const consentSchema = z.record(
  z.string(),
  z.object({ statuses: z.array(z.string()), run: z.number().exactOptional() }),
);

/** A damaged record ends the run: its contact may have unsubscribed. */
function decode(value: string, run: RecordedRun): LoggedConsent {
  try {
    return consentSchema.parse(JSON.parse(value));
  } catch {
    const error = new ConfigurationError(
      "The checkpoint holds no valid record of a consent under `consent:`. Restore it, or begin with an empty one.",
    );
    run.fail(error);
    throw error;
  }
}

function merge(
  logged: LoggedConsent | undefined,
  consent: Consent,
  outcome: "applied" | "unknown",
): LoggedConsent {
  const channels = Object.entries(consent).map(([channel, status]): [string, LoggedChannel] => {
    if (outcome === "applied") return [channel, { statuses: [status] }];
    const { statuses, isOpen } = logged?.[channel] ?? { statuses: [], isOpen: true };
    return [channel, { statuses: [...new Set([...statuses, status])], isOpen: isOpen === true }];
  });
  return { ...logged, ...Object.fromEntries(channels) };
}
