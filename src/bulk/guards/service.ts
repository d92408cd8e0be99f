import { contactKeys } from "../../consent.ts";
import { ConnectionError } from "../../errors.ts";
import { type Profile, shownFlag, shownStatus } from "../../v1/schemas/profile.ts";
import type { ConsentSnapshot, ShownConsent } from "../consent-snapshot.ts";
import {
  addressesOf,
  type Guard,
  type GuardedRow,
  nextMoment,
  notSent,
  refusesOnly,
  RowStop,
  type RowWrite,
  type Word,
} from "../guard.ts";
import type { Look } from "../look.ts";
import { isRefusal, withRefusals } from "../refusals.ts";
import type { SupersededReason } from "../result.ts";

/** What the guard of the service needs of a run. */
export interface ServiceSettings {
  readonly look: Look | undefined;
  readonly checksConsent: boolean;
  readonly snapshot: ConsentSnapshot | undefined;
  /** Says once of each channel that the service does not show it, or by no word that is documented. */
  readonly notShown: (channel: string) => void;
}

const channels = ["email", "phone"] as const;
const everyChannel = [...channels, "is_suppressed"] as const;
const documentedStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"];

/** A look that failed: the row was not sent, and `cause` says why. */
class LookError extends ConnectionError {}

/** Whether every other row would meet an error is told by what the service said to the look. */
export function judgedError(error: unknown): unknown {
  return error instanceof LookError ? error.cause : error;
}

/** The ids by which a row is looked up. */
export interface RowIds {
  readonly ids: readonly string[];
  /** The snapshot shows a refusal. */
  readonly isRefused: boolean;
}

/** Where nothing is said, or nothing but refusals, nobody is looked up: undefined. */
export function idsOf(row: GuardedRow, snapshot: ConsentSnapshot | undefined): RowIds | undefined {
  const contacts = contactsOfRow(row);
  if (contacts.length === 0 || refusesOnly(row)) return undefined;
  const shown = shownTo(contacts, snapshot, row.recordedId !== undefined);
  const isRefused = shown.some((one) => everyChannel.some((channel) => refuses(one, channel)));
  if (shown.length > 0) return { ids: shown.map(({ id }) => id), isRefused };
  const ids = row.recordedId === undefined ? [] : [row.recordedId];
  return { ids, isRefused };
}

/** The service shows, at most a minute before a row leaves, whether its person has refused. */
export class ServiceGuard implements Guard {
  readonly name = "The look at the service";
  readonly maxAgeMs = 60_000;
  readonly #settings: ServiceSettings;

  constructor(settings: ServiceSettings) {
    this.#settings = settings;
  }

  async ask(row: GuardedRow, signal: AbortSignal): Promise<Word[]> {
    const { checksConsent, look, snapshot } = this.#settings;
    const found = idsOf(row, snapshot);
    if (!found) return [];
    if (!look) {
      this.#refuseBySnapshot(row);
      return [];
    }
    if (!checksConsent && !found.isRefused) return [];
    const words: Word[] = [];
    const at = nextMoment();
    for (const id of found.ids) {
      const shown = await this.#look(look, id, signal);
      if (!shown) throw superseded(row, "The service has no contact with this id any more");
      // It may be another contact than the row now names.
      if (id === row.recordedId) refuseAfterEarlierContact(row, shown);
      words.push(...this.#wordsOf(row, shown, at));
    }
    return words;
  }

  async #look(look: Look, id: string, signal: AbortSignal) {
    try {
      return await look(id, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // The look's own error tells of a read, and nothing of the write.
      const message =
        "Not sent: the contact could not be looked up, so it may have unsubscribed. The next run looks again.";
      const failed = new LookError({ message, outcome: "not-sent", reason: "other", cause: error });
      throw new RowStop({ kind: "failed", error: failed });
    }
  }

  #wordsOf(row: GuardedRow, service: Profile, at: number): Word[] {
    const { attributes, id } = service;
    const own = contactsOfRow(row);
    const keys = contactKeys([{ email: attributes.email, phone: attributes.phone, contactUUID: id }]);
    const word = (channel: string, addresses: readonly string[], isRefused: boolean): Word => {
      return { by: "service", channel, addresses, isRefused, at, service };
    };
    const words = channels.flatMap((channel) => {
      const status = statusOf(attributes, channel);
      if (!documentedStates.includes(status)) {
        if (row.writes.some(({ said }) => said.has(channel))) this.#settings.notShown(channel);
        return [];
      }
      // A word counts for the address that is shown with it. Without one only a refusal does, for those of the row.
      const isShown = keys.some((key) => key.startsWith(`${channel}:`));
      const isRefused = status === "UNSUBSCRIBED";
      return isShown || isRefused ? [word(channel, isShown ? keys : own, isRefused)] : [];
    });
    const flag = shownFlag(attributes.is_suppressed);
    // Of another contact than the row now names it says nothing about hers.
    const isOwn = keys.length === 1 || keys.some((key) => own.includes(key));
    if (flag !== undefined) words.push(word("is_suppressed", isOwn ? own : keys, flag));
    else if (row.writes.some(({ said }) => said.has("is_suppressed")))
      this.#settings.notShown("is_suppressed");
    return words;
  }

  /** Without the v1 family nothing can be looked up: what only the snapshot shows as refused is not sent. */
  #refuseBySnapshot(row: GuardedRow): void {
    for (const { contacts, write } of row.writes) {
      const shown = shownTo(contacts, this.#settings.snapshot);
      const refused = everyChannel.filter((each) => shown.some((one) => refuses(one, each)));
      const restated = withRefusals(write, new Map(refused.map((channel) => [channel, "service"])));
      if (restated.unsaid || restated.write !== write)
        throw superseded(row, "The snapshot shows that the contact has refused", "snapshot");
    }
  }
}

function superseded(
  { writes }: GuardedRow,
  message: string,
  reason: SupersededReason = "service",
  service?: Profile,
): RowStop {
  const why = { kind: "superseded", reason, service } as const;
  return new RowStop(why, `${message}: ${notSent(writes.map(({ said }) => said))}`);
}

/** The contact of an earlier night has refused a channel of which the row now names another address. */
function refuseAfterEarlierContact(row: GuardedRow, service: Profile): void {
  const { attributes } = service;
  const keys = contactKeys([{ email: attributes.email, phone: attributes.phone }]);
  const own = contactsOfRow(row);
  const isOther = keys.length > 0 && !keys.some((key) => own.includes(key));
  const hasMoved = channels.some((channel) => {
    const shown = keys.filter((key) => key.startsWith(`${channel}:`));
    const named = row.writes.filter((write) => isNamedOtherwise(write, channel, shown));
    return shown.length > 0 && named.length > 0 && statusOf(attributes, channel) === "UNSUBSCRIBED";
  });
  if (hasMoved || (isOther && refuses(attributes, "is_suppressed")))
    throw superseded(row, "The contact that the row had before has refused", "service", service);
}

function isNamedOtherwise({ contacts, said }: RowWrite, channel: string, shown: readonly string[]): boolean {
  const word = said.get(channel);
  if (word === undefined || isRefusal(channel, word)) return false;
  const named = contacts.filter((key) => key.startsWith(`${channel}:`));
  return named.length > 0 && !named.some((key) => shown.includes(key));
}

function contactsOfRow({ writes }: GuardedRow): string[] {
  return [...new Set(writes.filter(({ said }) => said.size > 0).flatMap(({ contacts }) => contacts))];
}

/**
 * The contacts of a snapshot that have the e-mail, or without one the phone: the service finds a contact by either. Of a row
 * with an e-mail whose id an earlier night has recorded, the phone may be another person's.
 */
function shownTo(contacts: readonly string[], snapshot: ConsentSnapshot | undefined, hasId = false) {
  if (!snapshot) return [];
  const emails = contacts.filter((key) => key.startsWith("email:"));
  const byEmail = snapshot.shownOf(emails);
  if (byEmail.length > 0 || (emails.length > 0 && hasId)) return byEmail;
  return snapshot.shownOf(addressesOf("phone", contacts));
}

function statusOf(shown: ShownConsent, channel: (typeof channels)[number]): string {
  return shownStatus(channel === "email" ? shown.email_opt_in : shown.phone_opt_in);
}

function refuses(shown: ShownConsent, channel: (typeof channels)[number] | "is_suppressed"): boolean {
  if (channel === "is_suppressed") return shownFlag(shown.is_suppressed) === true;
  return statusOf(shown, channel) === "UNSUBSCRIBED";
}
