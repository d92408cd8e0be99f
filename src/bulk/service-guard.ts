import type { ConsentWrite } from "../consent.ts";
import { TimeoutError } from "../errors.ts";
import type { Call, FamilyAccess } from "../transport/call.ts";
import type { Profile } from "../v1/schemas/profile.ts";
import { idsToLookUp, judge, judgedChannels, look, lookFailed, type JudgedChannel } from "./consent-check.ts";
import type { ConsentSnapshot } from "./consent-snapshot.ts";
import type { Journal } from "./journal.ts";
import type { LookedUp } from "./ledger.ts";
import { hasCode } from "./result.ts";
import { UnansweredError } from "./row-end.ts";
import type { RowLog } from "./row-log.ts";
import type { RowRecord } from "./row-record.ts";
import { judgeBySnapshot } from "./snapshot-guard.ts";
import { decodeContacts, idOf, statementsOf, tagOf, type StatedWrites } from "./statements.ts";

/** What the guard of the service needs of a run. */
export interface ServiceGuardSettings {
  readonly journal: Journal;
  /** The v1 family of the run's client: it shows also what another family has written. */
  readonly v1: FamilyAccess | undefined;
  /** Whether the service is asked, before a changed row is sent. */
  readonly checksConsent: boolean;
  /** Judges the opt-ins of contacts without a recorded id. */
  readonly snapshot: ConsentSnapshot | undefined;
  /** Says once of each channel that the service does not show it. */
  readonly notShown: (channels: readonly string[]) => void;
}

/** What the service has shown of a contact, before the row's first write to it: afterwards it shows the row's own writes. */
interface Shown extends LookedUp {
  readonly first: ConsentWrite;
  /** When the service was last asked; undefined if it need not be. */
  lookedAt: number | undefined;
  isPossible: boolean;
  isSettled: (channel: string) => boolean;
}

/** Why the service refuses a row. */
export interface ServiceRefusal {
  readonly reason: "service" | "snapshot";
  readonly message: string;
  readonly service?: Profile;
}

const longestAgeMs = 60_000;
/** A look that is nearly too old is made again while it still may be. */
const agingMs = 55_000;
const mostLateLooks = 3;

/** The second guard: the service shows whether a contact has refused since an earlier night (contract 8). */
export class ServiceGuard {
  readonly #record: RowLog;
  readonly #settings: ServiceGuardSettings;
  /** What the row has stated so far. */
  readonly #stated: StatedWrites;
  readonly #shown = new Map<ConsentWrite, Shown>();
  #lateLooks = 0;

  constructor(record: RowLog, settings: ServiceGuardSettings, stated: StatedWrites) {
    this.#record = record;
    this.#settings = settings;
    this.#stated = stated;
  }

  /** What was shown of the contact of a write. */
  shown(write: ConsentWrite): Shown | undefined {
    return this.#shown.get(write);
  }

  /** Before a write waits for its first permit: asks the service, where that is owed. */
  async check(call: Call, write: ConsentWrite): Promise<ServiceRefusal | undefined> {
    const earlier = writesTo(write, this.#stated).map((each) => this.#shown.get(each));
    const known = earlier.find((each) => each !== undefined);
    const shown = known ?? { first: write, lookedAt: undefined, isPossible: false, isSettled: () => false };
    this.#shown.set(write, shown);
    return known ? undefined : ((await this.#look(call, shown)) ?? this.#judgeBySnapshot(write));
  }

  /** Before an attempt: asks again where the answer is nearly too old. Throws after three such answers. */
  async renew(call: Call): Promise<ServiceRefusal | undefined> {
    const shown = this.#lookBefore(call);
    if (!shown || performance.now() - shown.lookedAt <= agingMs) return undefined;
    if ((this.#lateLooks += 1) <= mostLateLooks) return await this.#look(call, shown);
    const message =
      "The row waited for over a minute after its look, three times: what it showed was too old.";
    const error = new TimeoutError({ message, outcome: "not-applied", timeoutMs: longestAgeMs });
    throw new UnansweredError("unlooked", lookFailed(error));
  }

  /** Whether the last answer is recent enough to send the row by it. */
  isFresh(call: Call): boolean {
    const shown = this.#lookBefore(call);
    return !shown || performance.now() - shown.lookedAt <= longestAgeMs;
  }

  /** The answer by which this write is sent; a further write of the row needs none. */
  #lookBefore({ request: { consentWrite } }: Call): (Shown & { readonly lookedAt: number }) | undefined {
    const shown = consentWrite && this.#shown.get(consentWrite);
    if (shown?.first !== consentWrite || shown?.lookedAt === undefined) return undefined;
    // Safe: it has the time.
    return shown as Shown & { readonly lookedAt: number };
  }

  async #look(call: Call, shown: Shown): Promise<ServiceRefusal | undefined> {
    const { before } = this.#record;
    // Only v1 shows a contact.
    const access = call.report.facts.operation.startsWith("v1.") ? call.access : this.#settings.v1;
    // A changed row is looked up, and one that goes on after a kill: it was changed before it.
    const isLookedUp = this.#settings.checksConsent && this.#record.isOwed;
    if (!isLookedUp || !before || !access) return undefined;
    const write = shown.first;
    const spoken = decodeContacts(before.contacts);
    const tag = tagOf(write.contacts);
    // The id of an earlier address shows nothing of the contact with the new one.
    shown.isPossible = Boolean(idOf(spoken, tag));
    const judged = judgedChannels(write, spoken.decisions);
    if (judged.length === 0) return undefined;
    const channels = await this.#withoutPastStatuses(judged, write, before);
    let settled: readonly string[] = [];
    for (const id of idsToLookUp(spoken, write, this.#stated)) {
      const lookedAt = performance.now();
      const service = await ask(call, access, id);
      shown.lookedAt = lookedAt;
      if (!service) return { reason: "service", message: "The service has no contact with this id any more" };
      const judgement = judge(service.attributes, write, channels);
      this.#settings.notShown(judgement.missing);
      settled = judgement.settled;
      if (judgement.isRefused)
        return { reason: "service", message: "The service shows that the contact has refused", service };
    }
    if (!shown.isPossible) return undefined;
    const named = statementsOf(write).map(({ channel }) => channel);
    shown.isSettled = (channel) => settled.includes(channel) || !named.includes(channel);
    return undefined;
  }

  /** What another call has written since is no status of the row's own any more. */
  async #withoutPastStatuses(
    channels: readonly JudgedChannel[],
    write: ConsentWrite,
    before: RowRecord,
  ): Promise<JudgedChannel[]> {
    const { journal } = this.#settings;
    const names = await Promise.all(this.#record.namesOf(write).map((key) => journal.nameOf(key)));
    return channels.map((each) => {
      const isPast = journal.ledger.isWrittenSince(names, before, each.channel, each.own);
      return isPast ? { ...each, own: "" } : each;
    });
  }

  #judgeBySnapshot(write: ConsentWrite): ServiceRefusal | undefined {
    const { checksConsent, snapshot, notShown } = this.#settings;
    const spoken = decodeContacts(this.#record.before?.contacts ?? "");
    const isLookedUp = checksConsent && idsToLookUp(spoken, write, this.#stated).length > 0;
    if (!snapshot || isLookedUp) return undefined;
    const { isRefused, missing } = judgeBySnapshot(snapshot, write, spoken.decisions);
    notShown(missing);
    const message = "The snapshot shows that the contact has refused";
    return isRefused ? { reason: "snapshot", message } : undefined;
  }
}

/** The row's writes to the contact of this one, this one included. */
export function writesTo({ contacts }: ConsentWrite, stated: StatedWrites): ConsentWrite[] {
  return [...stated.keys()].filter((each) => each.contacts.some((contact) => contacts.includes(contact)));
}

async function ask(call: Call, access: FamilyAccess, id: string): Promise<Profile | undefined> {
  try {
    return await look(call, access, id);
  } catch (error) {
    // The look's own error tells of a read, and nothing of the write.
    if (hasCode(error, "aborted", "closed")) call.stopWaiting.signal.throwIfAborted();
    throw new UnansweredError("unlooked", lookFailed(error));
  }
}
