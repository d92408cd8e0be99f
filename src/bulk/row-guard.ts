import type { ConsentWrite } from "../consent.ts";
import { AbortError, type Outcome } from "../errors.ts";
import type { Call } from "../transport/call.ts";
import { CurrentGuard, type CurrentGuardSettings } from "./current-guard.ts";
import type { SupersededEnd } from "./result.ts";
import type { RowRecord } from "./row-record.ts";
import type { ReadRow } from "./row-source.ts";
import { ServiceGuard, writesTo, type ServiceGuardSettings, type ServiceRefusal } from "./service-guard.ts";
import { decodeContacts, isRefusal, repeated, statementsOf } from "./statements.ts";

/** By what the rows of a run may be superseded. */
export type GuardSettings<Row> = ServiceGuardSettings & CurrentGuardSettings<Row>;

/** A row is one write: where one channel is refused, what it says of the others is not sent either. */
function notSent(write: ConsentWrite): string {
  const optOuts = statementsOf(write).filter(({ status }) => isRefusal(status));
  const withheld = optOuts.map(({ channel }) => channel).join(" and ");
  const further = ` Nor was its opt-out of ${withheld}: send that by a call of its own.`;
  return `the row was not sent, or not sent again.${withheld === "" ? "" : further}`;
}

/** Keeps a superseded row from being sent. It is the first guard, this process, and asks the two others (contract 8). */
export class RowGuard<Row> {
  /** Why the row is superseded: the first reason counts. */
  superseded: SupersededEnd | undefined;
  /** What the row has stated, also by writes that were never sent. */
  readonly stated = new Map<ConsentWrite, "applied" | "unknown" | "unsent">();
  /** The names of the contacts of each write in the journal. */
  readonly #names = new Map<ConsentWrite, readonly string[]>();
  readonly #row: ReadRow<Row>;
  readonly #settings: GuardSettings<Row>;
  readonly #service: ServiceGuard;
  readonly #current: CurrentGuard<Row>;

  constructor(row: ReadRow<Row>, settings: GuardSettings<Row>) {
    this.#row = row;
    this.#settings = settings;
    this.#service = new ServiceGuard(row.record, settings, this.stated);
    this.#current = new CurrentGuard(row.item, settings);
  }

  /** Before a write waits for its first permit. */
  async check(call: Call): Promise<void> {
    const { consentWrite } = call.request;
    if (!consentWrite) return;
    const { journal } = this.#settings;
    const known = this.#row.record.namesOf(consentWrite);
    const names = await Promise.all(known.map((key) => journal.nameOf(key)));
    this.#names.set(consentWrite, names);
    if (!this.superseded) this.#heed(consentWrite, await this.#service.check(call, consentWrite));
  }

  /** Before an attempt, before it is recorded. */
  async prepare(call: Call): Promise<void> {
    const { consentWrite } = call.request;
    if (consentWrite) this.#heed(consentWrite, await this.#service.renew(call));
    this.confirm(call);
  }

  /** Throws if the row is superseded, by what is known now. */
  confirm({ request: { consentWrite } }: Call): void {
    // No further call of a superseded row is sent.
    if (this.superseded) throw this.#supersede(this.superseded, this.superseded.error!.message);
    const names = consentWrite && this.#names.get(consentWrite);
    const shown = consentWrite && this.#service.shown(consentWrite);
    if (!consentWrite || !names || !shown) return;
    const { record } = this.#row;
    const { before } = record;
    const all = writesTo(consentWrite, this.stated);
    const statement = { write: consentWrite, all, row: record };
    if (this.#settings.journal.ledger.supersedes(names, statement, shown))
      throw this.#supersede(
        { reason: "process" },
        `Another call has written the contact's consent, and the row may be older: ${notSent(consentWrite)}`,
      );
    if (before && shown.lookedAt === undefined && isStillRefused(all, before))
      throw this.#supersede(
        { reason: before.state === "superseded-snapshot" ? "snapshot" : "service" },
        `The contact had refused on an earlier night, and the row says what it said then: ${notSent(consentWrite)}`,
      );
  }

  /** Whether the answers of the other guards are recent enough to send the row now. */
  isFresh(call: Call): boolean {
    return this.#service.isFresh(call) && this.#current.isFresh();
  }

  /** Asks `isCurrent` before an attempt. */
  async ask(signal: AbortSignal): Promise<void> {
    if (await this.#current.ask(signal)) return;
    throw this.#supersede(
      { reason: "not-current" },
      "isCurrent returned false: the row was not sent, or not sent again.",
    );
  }

  /** Asks `isCurrent` once more, after the response. */
  async askAgain(stop: AbortSignal): Promise<void> {
    if (await this.#current.askAgain(stop)) return;
    const message = "isCurrent returned false after the row was sent: the service has it.";
    throw this.#supersede({ reason: "not-current" }, message, "applied");
  }

  #heed(write: ConsentWrite, refusal: ServiceRefusal | undefined): void {
    if (!refusal) return;
    const { reason, message, service } = refusal;
    throw this.#supersede({ reason, ...(service && { service }) }, `${message}: ${notSent(write)}`);
  }

  /** Each call has an error of its own, as one of them may have been sent before. */
  #supersede(
    by: Pick<SupersededEnd, "reason" | "service">,
    message: string,
    outcome: Outcome = "not-sent",
  ): AbortError {
    const error = new AbortError({ message, outcome, cause: undefined });
    this.superseded ??= { ...by, status: "superseded", error };
    return error;
  }
}

/** Without a look: a refusal was shown on an earlier night, and the row has decided nothing since. */
function isStillRefused(writes: readonly ConsentWrite[], before: RowRecord): boolean {
  if (before.supersededAt === 0) return false;
  const { decisions } = decodeContacts(before.contacts);
  return writes
    .flatMap(statementsOf)
    .filter(({ status }) => status !== "")
    .every((statement) => (repeated(decisions, statement)?.since ?? Infinity) <= before.supersededAt);
}
