import { type ConsentWrite, isDocumented, isRefusal, shownConsent, shownRefusals } from "../../consent.ts";
import { contactKeys } from "../../contact-keys.ts";
import { ConnectionError, isAudienceError } from "../../errors.ts";
import { familyOf, type OpenedClient } from "../../open-client.ts";
import { prepareCall } from "../../transport/prepare-call.ts";
import { getCustomer } from "../../v1/customers.ts";
import type { Profile } from "../../v1/schemas/profile.ts";
import {
  type BulkSettings,
  type ConsentSnapshot,
  rowCallOptions,
  type ShownContact,
} from "../bulk-options.ts";
import { refusesOnly, withRefusals } from "../refusals.ts";
import type { RunParts } from "../run-end.ts";
import {
  addressesOf,
  type Guard,
  type GuardedRow,
  nextMoment,
  ofKind,
  refusalsAmong,
  RowStop,
  superseded,
  type Word,
} from "./guard.ts";
import type { ProcessGuard } from "./other-calls.ts";

type LookOptions = Pick<BulkSettings<never>, "opened" | "checkConsent" | "snapshot">;

const everyChannel = ["email", "phone", "is_suppressed"] as const;

/** A look that failed: the row was not sent, and `cause` says why. */
export class LookError extends ConnectionError {}

/** What a snapshot shows of a row's contact, and its ids. Where nothing is said, or nothing but refusals, nobody is looked up. */
function knownOf(row: GuardedRow, snapshot: ConsentSnapshot | undefined) {
  const contacts = contactsOfRow(row);
  if (contacts.length === 0) return { shown: [], ids: [] };
  const shown = shownTo(contacts, snapshot, row.recordedId !== undefined);
  if (refusesOnly(row.writes)) return { shown, ids: [] };
  // Beside the contact that has the row's address, the one of an earlier night: it may have refused since.
  const recorded = [row.recordedId, row.keptId].filter((id) => id !== undefined);
  return { shown, ids: [...new Set([...shown.map(({ id }) => id), ...recorded])] };
}

/** The ids by which a row is looked up. Only the v1 family shows a contact. */
export function looksOf(row: GuardedRow, { checkConsent, opened, snapshot }: LookOptions): readonly string[] {
  const { ids, shown } = knownOf(row, snapshot);
  return canLook(opened) && (checkConsent || shown.flatMap(shownRefusals).length > 0) ? ids : [];
}

/** Whether nothing is known of the person; `formerId`: of another than the row names now. */
export function isUnknown(row: GuardedRow, { snapshot }: LookOptions, formerId?: string): boolean {
  return knownOf(row, snapshot).ids.every((id) => id === formerId);
}

function canLook({ settings }: OpenedClient): boolean {
  return settings.families.some(({ name }) => name === "v1");
}

/** The service shows, at most a minute before a row leaves, whether its person has refused. */
export class ServiceGuard implements Guard {
  readonly name = "The look at the service";
  readonly maxAgeMs = 60_000;
  readonly #run: RunParts;
  readonly #process: ProcessGuard;

  constructor(run: RunParts, process: ProcessGuard) {
    this.#run = run;
    this.#process = process;
  }

  async ask(row: GuardedRow, signal: AbortSignal) {
    const { options } = this.#run;
    const { shown } = knownOf(row, options.snapshot);
    const ofNumber = options.snapshot?.shownOf(ofKind("phone", contactsOfRow(row))) ?? [];
    // What the snapshot shows as refused counts where a look shows nothing of it: a number also where it is another contact's.
    const words = [
      ...shown.flatMap((one) => this.#wordsOf(row, one, 0)),
      ...ofNumber.flatMap((one) => this.#wordsOf(row, one, 0)).filter(({ channel }) => channel === "phone"),
    ].filter(({ isRefused }) => isRefused);
    const knownTo = (said: ConsentWrite) => refusalsAmong(words, said);
    const isLifting = () =>
      shown.some((one) => leavesRefusal(row, one)) ||
      row.writes.some((write) => withRefusals(write, knownTo).channels !== "");
    if (!canLook(options.opened) && !refusesOnly(row.writes) && isLifting())
      throw superseded("The snapshot shows that the contact has refused", "snapshot");
    // Of several looks the first: their words are of one moment, so that the refusal counts (D268).
    let first: { readonly at: number; readonly moment: number } | undefined;
    for (const id of looksOf(row, options)) {
      const { service, left } = await this.#look(id, signal);
      first ??= left;
      const contact = service && { ...service.attributes, id };
      if (contact) this.#process.learnShown([saidOf(contact)], first.moment);
      // One beside the contact of the row has nothing to say.
      const isItsOwn = shown.length > 0 ? shown.some((one) => one.id === id) : id === row.recordedId;
      if (!contact && !isItsOwn) continue;
      if (!contact) throw superseded("The service has no contact with this id any more", "service");
      if (leavesRefusal(row, contact))
        throw superseded("The contact has refused, at an address that the row leaves", "service", service);
      words.push(...this.#wordsOf(row, contact, first.moment, service));
    }
    return { words, askedAt: first?.at ?? performance.now() };
  }

  /** `service`: undefined if it has no contact with the id. `left`: when the look was sent, after its wait for a permit. */
  async #look(id: string, signal: AbortSignal) {
    const { settings, transport } = this.#run.options.opened;
    let left = { at: 0, moment: 0 };
    // It waits for the rate limit as its row does.
    const gate = {
      stop: this.#run.end.stop,
      enter: async () => {},
      isOpen: () => {
        left = { at: performance.now(), moment: nextMoment() };
        return true;
      },
    };
    try {
      this.#run.progress.calls++;
      const access = familyOf(settings, "v1");
      const call = prepareCall(getCustomer, { params: { id } }, { access, options: settings.call });
      // Safe: its endpoint has decoded it.
      const service = (await transport.send(call, { ...rowCallOptions, gate, signal })) as Profile;
      return { service, left };
    } catch (error) {
      if (isGone(error)) return { service: undefined, left };
      if (signal.aborted) throw error;
      // The look's own error tells of a read, and nothing of the write.
      const message =
        "The contact could not be looked up, and may have unsubscribed: the row was not sent, or not sent again. The next run looks again.";
      throw new RowStop({
        errorOf: (outcome) => new LookError({ message, outcome, reason: "other", cause: error }),
      });
    }
  }

  /** `service`: the contact as a look has shown it. */
  #wordsOf(row: GuardedRow, contact: ShownContact, moment: number, service?: Profile): Word[] {
    const { email, phone, id } = contact;
    const named = contactsOfRow(row);
    const shown = contactKeys([{ email, phone, contactUUID: id }]);
    const isSameContact = shown.length === 1 || shown.some((key) => named.includes(key));
    const words = shownConsent(contact);
    return everyChannel.flatMap((channel) => {
      const word = words.get(channel);
      if (word === undefined || !isDocumented(channel, word)) {
        if (service && row.said.some(({ consent }) => consent.has(channel)))
          this.#run.warnings.sayOnce(
            `the service shows no consent of ${channel} that is documented: rows are not judged by it`,
          );
        return [];
      }
      // A word counts for the address that is shown with it; a refusal without one, and a suppression, for those of the row.
      const hasAddress = ofKind(channel, shown).length > 0;
      const isRefused = isRefusal(channel, word);
      const isOfRow = channel === "is_suppressed" ? isSameContact : isRefused && !hasAddress;
      return [{ by: "service", channel, addresses: isOfRow ? named : shown, isRefused, moment, service }];
    });
  }
}

/** What a look shows, for later rows. Without a suppression, as others may have the contact's phone. */
function saidOf({ email, phone, id, ...contact }: ShownContact): ConsentWrite {
  const words = [...shownConsent(contact)].filter(([channel, word]) => isDocumented(channel, word));
  const consent = new Map(words.filter(([channel]) => channel !== "is_suppressed"));
  return { contacts: contactKeys([{ email, phone, contactUUID: id }]), consent };
}

/** A 404 without a JSON body comes from a gateway, and says nothing of a contact. */
function isGone(error: unknown): boolean {
  if (!isAudienceError(error) || error.code !== "not_found") return false;
  return typeof error.body === "object" && error.body !== null;
}

/**
 * Whether the row's person has refused at an address that the row leaves for another one: the contact of an earlier night,
 * or the one that has the row's e-mail (D294).
 */
function leavesRefusal(row: GuardedRow, contact: ShownContact): boolean {
  const shown = contactKeys([{ email: contact.email, phone: contact.phone }]);
  const named = contactsOfRow(row);
  const isNamed = (key: string) => named.includes(key);
  if (contact.id !== row.recordedId && !ofKind("email", shown).some(isNamed)) return false;
  const refused = shownRefusals(contact);
  if (refused.some((channel) => namesAnother(row, channel, shown))) return true;
  return refused.includes("is_suppressed") && shown.length > 0 && !shown.some(isNamed);
}

/** Whether a row says something else of a channel, and only at other addresses than the one that is shown. */
function namesAnother({ said }: GuardedRow, channel: string, shown: readonly string[]): boolean {
  const words = said.filter(({ contacts }) => ofKind(channel, contacts).length > 0);
  const [named, known] = [words.flatMap(({ contacts }) => ofKind(channel, contacts)), ofKind(channel, shown)];
  if (named.length === 0 || known.length === 0 || named.some((key) => known.includes(key))) return false;
  return words.some(({ consent }) => !isRefusal(channel, consent.get(channel) ?? ""));
}

function contactsOfRow({ said }: GuardedRow): string[] {
  return [...new Set(said.flatMap(({ contacts }) => contacts))];
}

/**
 * The contacts of a snapshot that have the e-mail, or without one the phone: the service finds a contact by either. Of a row
 * with an e-mail whose id an earlier night has recorded, the phone may be another person's.
 */
function shownTo(contacts: readonly string[], snapshot: ConsentSnapshot | undefined, hasId = false) {
  if (!snapshot) return [];
  const emails = ofKind("email", contacts);
  const byEmail = snapshot.shownOf(emails);
  if (byEmail.length > 0 || (emails.length > 0 && hasId)) return byEmail;
  return snapshot.shownOf(addressesOf("phone", contacts));
}
