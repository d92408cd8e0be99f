import type { Outcome } from "../errors.ts";
import type { ConsentWatch } from "../transport/client-state.ts";
import { consentLines, type Consent, type ConsentWrite } from "../transport/consent.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RecordedRow } from "./row-record.ts";

/** One contact's consent that other calls wrote, by channel. */
type LoggedConsent = Readonly<Record<string, LoggedChannel>>;

interface LoggedChannel {
  /** The possible statuses: one, or several after a write with an unknown outcome. */
  readonly statuses: readonly string[];
  /** The number of the earlier run in which it was written; absent for this run. */
  readonly run?: number;
}

/**
 * The consents that other calls of this client wrote after the run began: no row of the run overrides them. With a
 * checkpoint they are recorded before they are sent, so that they also bind the run that continues after a crash.
 */
export class ConsentLog implements ConsentWatch {
  /** By contact. Earlier records are loaded at the first write to the contact. */
  readonly #logged = new Map<string, LoggedConsent>();
  /** By write in flight: the records of its contacts before it. */
  readonly #foundBy = new WeakMap<ConsentWrite, Map<string, LoggedConsent | undefined>>();
  readonly #opening: Promise<RecordedRun | undefined> | undefined;
  /** The queue of operations on the checkpoint, one after the other. */
  #stored: Promise<void> | undefined;

  /** `opening` is the checkpoint that is being opened: writes wait for it. */
  constructor(opening: Promise<RecordedRun | undefined> | undefined) {
    this.#opening = opening;
  }

  async begins(write: ConsentWrite): Promise<void> {
    const found = new Map<string, LoggedConsent | undefined>();
    await this.#enqueue(async (run) => {
      this.#foundBy.set(write, found);
      for (const contact of write.contacts) {
        found.set(contact, await this.#read(run, contact));
        await record(run, contact, this.#with(contact, write.consent, "unknown"), true);
      }
    });
  }

  ended(write: ConsentWrite, outcome: Outcome): void {
    const found = this.#foundBy.get(write);
    for (const contact of write.contacts) {
      if (outcome === "applied" || outcome === "unknown") {
        this.#logged.set(contact, this.#with(contact, write.consent, outcome));
        void this.#enqueue((run) => this.#recordLogged(run, contact));
      } else if (found) {
        void this.#enqueue((run) => record(run, contact, found.get(contact), false));
      }
    }
  }

  /** Loads the records of the contacts for `isOverriddenBy`. */
  async load(contacts: readonly string[]): Promise<void> {
    await this.#enqueue(async (run) => {
      for (const contact of contacts) await this.#read(run, contact);
    });
  }

  /**
   * Whether a row would override a later consent. A consent that was written during an earlier run is later than the
   * row's status of that channel if the row's status is still the recorded one.
   */
  isOverriddenBy({ contacts, consent }: ConsentWrite, before: RecordedRow | undefined): boolean {
    return contacts.some((contact) =>
      Object.entries(this.#logged.get(contact) ?? {}).some(
        ([channel, { statuses, run }]) =>
          statuses.some((status) => status !== consent[channel]) &&
          (run === undefined || statesSameStatus(before, channel, consent[channel])),
      ),
    );
  }

  /** An applied row is the latest consent: it replaces consents that were written before this run. */
  rowApplied(contacts: readonly string[]): void {
    for (const contact of contacts) {
      const logged = this.#logged.get(contact);
      if (!logged) continue;
      const current = Object.entries(logged).filter(([, { run }]) => run === undefined);
      if (current.length > 0) this.#logged.set(contact, Object.fromEntries(current));
      else this.#logged.delete(contact);
      void this.#enqueue((run) => record(run, contact, this.#logged.get(contact), false));
    }
  }

  /** Resolves when all consents are recorded. */
  async settled(): Promise<void> {
    await this.#stored;
  }

  #with(contact: string, consent: Consent, outcome: "applied" | "unknown"): LoggedConsent {
    const logged = this.#logged.get(contact);
    const channels = Object.entries(consent).map(([channel, status]): [string, LoggedChannel] => {
      const before = outcome === "unknown" ? (logged?.[channel]?.statuses ?? []) : [];
      return [channel, { statuses: [...new Set([...before, status])] }];
    });
    return { ...logged, ...Object.fromEntries(channels) };
  }

  async #read(run: RecordedRun, contact: string): Promise<LoggedConsent | undefined> {
    const recorded = await recordedOf(run, contact);
    if (recorded && !this.#logged.has(contact)) this.#logged.set(contact, recorded);
    return this.#logged.get(contact);
  }

  /** Keeps the recorded consents of other channels. */
  async #recordLogged(run: RecordedRun, contact: string): Promise<void> {
    const logged = { ...(await recordedOf(run, contact)), ...this.#logged.get(contact) };
    this.#logged.set(contact, logged);
    await record(run, contact, logged, false);
  }

  /** A failure of the checkpoint ends the run (`RecordedRun`), but not the write that is being recorded. */
  #enqueue(work: (run: RecordedRun) => Promise<unknown>): Promise<void> | undefined {
    if (!this.#opening) return undefined;
    const before = this.#stored ?? Promise.resolve();
    this.#stored = before
      .then(() => this.#opening)
      .then((run) => run && work(run))
      .then(noResult, noResult);
    return this.#stored;
  }
}

/** Whether all consents of the row were recorded with it. */
export function statesSameConsent({ consent: recorded }: RecordedRow, consent: Consent): boolean {
  const lines = recorded.split("\n");
  return consentLines(consent).every((line) => lines.includes(line));
}

/** Whether the row's recorded status of a channel is the same. A failed row may lack the consents of some calls. */
function statesSameStatus(
  before: RecordedRow | undefined,
  channel: string,
  status: string | undefined,
): boolean {
  if (!before || before.state === "failed") return before !== undefined;
  const lines = before.consent.split("\n");
  if (status === undefined) return !lines.some((line) => line.startsWith(`${channel}=`));
  return lines.includes(`${channel}=${status}`);
}

async function recordedOf(run: RecordedRun, contact: string): Promise<LoggedConsent | undefined> {
  const value = await run.get(`consent:${contact}`);
  if (value === undefined) return undefined;
  // Safe: only `record` writes under this key.
  return mapChannels(JSON.parse(value) as LoggedConsent, (of) =>
    of.run === run.number ? { statuses: of.statuses } : of,
  );
}

async function record(
  run: RecordedRun,
  contact: string,
  logged: LoggedConsent | undefined,
  flush: boolean,
): Promise<void> {
  const value = logged && mapChannels(logged, (of) => ({ run: run.number, ...of }));
  await run.set(`consent:${contact}`, value && JSON.stringify(value), { flush });
}

function mapChannels(logged: LoggedConsent, map: (channel: LoggedChannel) => LoggedChannel): LoggedConsent {
  return Object.fromEntries(Object.entries(logged).map(([name, channel]) => [name, map(channel)]));
}

function noResult(): void {}
