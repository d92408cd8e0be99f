import { type ConsentWrite, isDocumented, isRefusal, shownConsent, shownRefusals } from "../../consent.ts";
import { contactKeys, ownFields } from "../../contact-keys.ts";
import { ConnectionError, isAudienceError } from "../../errors.ts";
import { familyOf, type OpenedClient } from "../../open-client.ts";
import { prepareCall } from "../../transport/prepare-call.ts";
import { getCustomer } from "../../v1/customers.ts";
import type { Profile } from "../../v1/profile.ts";
import { isObject } from "../../values/predicates.ts";
import {
  type BulkSettings,
  type ConsentSnapshot,
  rowCallOptions,
  type ShownContact,
} from "../bulk-options.ts";
import { refusesEachAddress, refusesOnly, withRefusals } from "../refusals.ts";
import type { RunParts } from "../run-parts.ts";
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

/** A look that failed: the row was not sent, and `cause` says why. */
export class LookError extends ConnectionError {}

/**
 * What a snapshot shows of a row's contact, found by the e-mail, or without one by the phone, as the service does; and the ids
 * to look up: none where the row says nothing, or refuses at all addresses that it names.
 */
function shownOfRow(row: GuardedRow, snapshot: ConsentSnapshot | undefined) {
  const rowKeys = keysOfRow(row);
  const emails = ofKind("email", rowKeys);
  const byEmail = snapshot?.shownOf(emails) ?? [];
  // Of a row with an e-mail whose id an earlier night has recorded, the phone may be another person's.
  const isFound = byEmail.length > 0 || (emails.length > 0 && row.recordedId !== undefined);
  const shown = isFound ? byEmail : (snapshot?.shownOf(addressesOf("phone", rowKeys)) ?? []);
  if (refusesEachAddress(row.consents)) return { shown, ids: [] };
  // Beside the contact that has the row's address, that of an earlier night is looked up: it may have refused since.
  const recordedIds = [row.recordedId, row.keptId].filter((id) => id !== undefined);
  return { shown, ids: [...new Set([...shown.map(({ id }) => id), ...recordedIds])] };
}

/** The ids by which a row is looked up. Only the v1 family shows a contact. */
export function looksOf(row: GuardedRow, options: BulkSettings<never>): readonly string[] {
  const { ids, shown } = shownOfRow(row, options.snapshot);
  const mayLook = options.checkConsent || shown.flatMap(shownRefusals).length > 0;
  return mayLook && canLook(options.opened) ? ids : [];
}

/** Whether no id of the row's person is known; `formerId`: the id of another than the row names now. */
export function isUnknown(row: GuardedRow, { snapshot }: BulkSettings<never>, formerId?: string): boolean {
  return shownOfRow(row, snapshot).ids.every((id) => id === formerId);
}

function canLook({ settings }: OpenedClient): boolean {
  return settings.families.some(({ name }) => name === "v1");
}

/** Looks at the service, at most a minute before a row leaves, whether its person has refused. */
export class ServiceGuard implements Guard {
  readonly name = "The look at the service";
  readonly maxAgeMs = 60_000;
  readonly #run: RunParts;
  readonly #processGuard: ProcessGuard;

  constructor(run: RunParts, processGuard: ProcessGuard) {
    this.#run = run;
    this.#processGuard = processGuard;
  }

  async ask(row: GuardedRow, signal: AbortSignal) {
    const { options } = this.#run;
    const mayBeHeld = !refusesOnly(row.writes);
    const { shown } = shownOfRow(row, options.snapshot);
    const byPhone = options.snapshot?.shownOf(ofKind("phone", keysOfRow(row))) ?? [];
    // What the snapshot shows as refused counts where a look shows nothing of it: a number also where it is another contact's.
    const words = [...shown, ...byPhone].flatMap((one) => {
      const refusals = this.#wordsOf(row, one, 0).filter(({ isRefused }) => isRefused);
      return shown.includes(one) ? refusals : refusals.filter(({ channel }) => channel === "phone");
    });
    const refusalsTo = (consent: ConsentWrite) => refusalsAmong(words, consent);
    const isLifting = () =>
      shown.some((one) => leavesRefusedAddress(row, one)) ||
      row.writes
        .map((write) => withRefusals(write, refusalsTo))
        .some((one) => one.channels || one.unsaid.size);
    if (!canLook(options.opened) && mayBeHeld && isLifting())
      throw superseded("The snapshot shows that the contact has refused", "snapshot");
    // Of several looks the first: their words are of one moment, so that the refusal counts (D268).
    let firstLook: { readonly at: number; readonly moment: number } | undefined;
    for (const id of looksOf(row, options)) {
      try {
        const { service, lookedAt } = await this.#look(id, signal);
        firstLook ??= lookedAt;
        const contact = service && { ...service.attributes, id };
        if (contact) this.#processGuard.learnShown([shownWrite(contact)], firstLook.moment);
        // A contact beside the row's own that is gone has nothing to say.
        const isOfRow = shown.length > 0 ? shown.some((one) => one.id === id) : id === row.recordedId;
        if (!contact && !isOfRow) continue;
        if (!contact) throw superseded("The service has no contact with this id any more", "service");
        words.push(...this.#wordsOf(row, contact, firstLook.moment, service));
        if (leavesRefusedAddress(row, contact))
          throw superseded("The contact has refused, at an address that the row leaves", "service", service);
      } catch (error) {
        // What refuses alone is sent whatever a look shows, or fails with (D299).
        if (mayBeHeld || !(error instanceof RowStop)) throw error;
      }
    }
    return { words, askedAt: firstLook?.at ?? performance.now() };
  }

  /** `service`: undefined if it has no contact with the id. `lookedAt`: when the look was sent, after its permit. */
  async #look(id: string, signal: AbortSignal) {
    const { settings, transport } = this.#run.options.opened;
    let lookedAt = { at: 0, moment: 0 };
    // A look waits for the rate limit as its row does.
    const lookGate = {
      stop: this.#run.runEnd.stop,
      enter: async () => {},
      isOpen: () => {
        lookedAt = { at: performance.now(), moment: nextMoment() };
        return true;
      },
    };
    try {
      this.#run.progress.calls++;
      const access = familyOf(settings, "v1");
      const call = prepareCall(getCustomer, { params: { id } }, { access, options: settings.call });
      // Safe: the endpoint has decoded the profile.
      const service = (await transport.send(call, { ...rowCallOptions, gate: lookGate, signal })) as Profile;
      return { service, lookedAt };
    } catch (error) {
      if (isGone(error)) return { service: undefined, lookedAt };
      if (signal.aborted) throw error;
      // The look's own error tells of a read, and nothing of the write.
      const message =
        "The contact could not be looked up, and may have unsubscribed: the row was not sent, or not sent again. The next run looks again.";
      throw new RowStop({
        errorOf: (outcome) => new LookError({ message, outcome, reason: "other", cause: error }),
      });
    }
  }

  /** The words of a contact that a look (`service`) or the snapshot shows. */
  #wordsOf(row: GuardedRow, contact: ShownContact, moment: number, service?: Profile): Word[] {
    const rowKeys = keysOfRow(row);
    const shownKeys = contactKeys([{ ...contact, contactUUID: contact.id }]);
    const isSameContact = shownKeys.length === 1 || shownKeys.some((key) => rowKeys.includes(key));
    const shownWords = shownConsent(contact);
    return (["email", "phone", "is_suppressed"] as const).flatMap((channel) => {
      const shownWord = shownWords.get(channel);
      if (shownWord === undefined || !isDocumented(channel, shownWord)) {
        if (service && row.consents.some(({ consent }) => consent.has(channel)))
          this.#run.warnings.warnOnce(
            `the service shows no consent of ${channel} that is documented: rows are not judged by it`,
          );
        return [];
      }
      // A word counts for the address that is shown with it; a refusal without one, and a suppression, for those of the row.
      const hasAddress = ofKind(channel, shownKeys).length > 0;
      const isRefused = isRefusal(channel, shownWord);
      const isOfRow = channel === "is_suppressed" ? isSameContact : isRefused && !hasAddress;
      const addresses = isOfRow ? rowKeys : shownKeys;
      return [{ by: "service", channel, addresses, isRefused, moment, service }];
    });
  }
}

/** The consent that a look shows, for later rows. Without a suppression, as others may have the contact's phone. */
function shownWrite(contact: ShownContact): ConsentWrite {
  const shownWords = [...shownConsent(contact)].filter(([channel]) => channel !== "is_suppressed");
  const consent = new Map(shownWords.filter(([channel, word]) => isDocumented(channel, word)));
  return { contacts: contactKeys([{ ...contact, contactUUID: contact.id }]), consent };
}

/** A 404 without a JSON body comes from a gateway, and says nothing of a contact. */
function isGone(error: unknown): boolean {
  return isAudienceError(error) && error.code === "not_found" && isObject(error.body);
}

/**
 * Whether the row's person has refused at an address that the row leaves for another one: the contact of an earlier night,
 * or the one that has the row's e-mail (D294).
 */
function leavesRefusedAddress(row: GuardedRow, contact: ShownContact): boolean {
  const { email, phone } = ownFields(contact);
  const shownKeys = contactKeys([{ email, phone }]);
  const rowKeys = keysOfRow(row);
  const isOfRow = (key: string) => rowKeys.includes(key);
  if (contact.id !== row.recordedId && !ofKind("email", shownKeys).some(isOfRow)) return false;
  const refusedChannels = shownRefusals(contact);
  if (refusedChannels.some((channel) => namesAnother(row, channel, ofKind(channel, shownKeys)))) return true;
  return refusedChannels.includes("is_suppressed") && shownKeys.length > 0 && !shownKeys.some(isOfRow);
}

/** Whether a row says something else of a channel than a refusal, and only at other addresses than the shown one. */
function namesAnother({ consents }: GuardedRow, channel: string, shown: readonly string[]): boolean {
  const ofChannel = consents.filter(({ contacts }) => ofKind(channel, contacts).length > 0);
  const named = ofChannel.flatMap(({ contacts }) => ofKind(channel, contacts));
  if (shown.length === 0 || named.some((key) => shown.includes(key))) return false;
  return ofChannel.some(({ consent }) => !isRefusal(channel, consent.get(channel) ?? ""));
}

function keysOfRow({ consents }: GuardedRow): string[] {
  return [...new Set(consents.flatMap(({ contacts }) => contacts))];
}
