import type { ConsentWrite } from "../consent.ts";
import { ConnectionError, isAudienceError } from "../errors.ts";
import { hookOption } from "../transport/call-options.ts";
import type { Call, CallHook, FamilyAccess } from "../transport/call.ts";
import { Transport } from "../transport/transport.ts";
import { getCustomer } from "../v1/customers.ts";
import { type Profile, shownFlag, shownStatus } from "../v1/schemas/profile.ts";
import { rowPriority } from "./bulk-options.ts";
import type { ShownConsent } from "./consent-snapshot.ts";
import {
  idOf,
  isStricter,
  repeated,
  statementsOf,
  tagOf,
  type Decision,
  type SpokenContacts,
  type StatedWrites,
} from "./statements.ts";

/** A channel in which a row must not override a refusal. */
export interface JudgedChannel {
  readonly channel: string;
  /** The row was sent `SUBSCRIBED` before, and the person was not asked to confirm. */
  readonly wasSubscribed: boolean;
  /** A status of the row itself, which the service shows until its opt-in is applied; empty if it shows that already. */
  readonly own: string;
}

/** The judgement of what is shown. */
export interface Judgement {
  readonly isRefused: boolean;
  /** The channels that are not shown: they were not judged. */
  readonly missing: readonly string[];
  /** The channels that are shown as the row says, or better: no earlier call is to be overridden in them. */
  readonly settled: readonly string[];
}

export const optIns: readonly string[] = ["SUBSCRIBED", "FALSE"];

/** The channels that a write subscribes, as the row has said before, or leaves to the service. */
export function judgedChannels(write: ConsentWrite, before: readonly Decision[]): JudgedChannel[] {
  return statementsOf(write).flatMap((each) => {
    const said = repeated(before, each);
    const isHeld = optIns.includes(each.status) && said !== undefined;
    if (each.status !== "" && !isHeld) return [];
    const last = said ?? repeated(before, { ...each, status: "SUBSCRIBED" });
    const wasSubscribed = last?.status === "SUBSCRIBED" && last.isSent && !last.isToBeConfirmed;
    // A person who has unsubscribed after an opt-in that may have been applied is not told from the row's own opt-out.
    const isOwn = last && (!last.isSent || last.replaces === "NON_SUBSCRIBED");
    const own = isOwn ? last.replaces : "";
    return [{ channel: each.channel, wasSubscribed, own }];
  });
}

/** Whether what the service shows of a contact refuses a write ("States and transitions"). */
export function judge(
  shown: ShownConsent,
  { consent }: ConsentWrite,
  channels: readonly JudgedChannel[],
): Judgement {
  const statuses: Readonly<Record<string, string | boolean | null | undefined>> = {
    email: shown.email_opt_in,
    phone: shown.phone_opt_in,
    is_suppressed: shownFlag(shown.is_suppressed),
  };
  // A suppression holds in every channel, unless the row decides about it itself.
  const isSuppressionOwn =
    consent["is_suppressed"] !== undefined && channels.every(({ channel }) => channel !== "is_suppressed");
  const statusOf = (channel: string) => shownStatus(statuses[channel]);
  const isRefused = channels.some(({ channel, own, wasSubscribed }) => {
    const status = statusOf(channel);
    if (status === own) return false;
    return status === "UNSUBSCRIBED" || (status === "NON_SUBSCRIBED" && wasSubscribed);
  });
  const names = channels.map(({ channel }) => channel);
  return {
    isRefused: isRefused || (statusOf("is_suppressed") === "TRUE" && !isSuppressionOwn),
    missing: names.filter((channel) => statusOf(channel) === ""),
    settled: names.filter((channel) => !isStricter(statusOf(channel), consent[channel])),
  };
}

/**
 * The ids by which a write's contact is looked up: its own, which an earlier response gave; for a new address, those of the
 * contacts that the row no longer has. `stated`: what the row has written so far.
 */
export function idsToLookUp(
  spoken: SpokenContacts,
  { contacts }: ConsentWrite,
  stated: StatedWrites,
): string[] {
  const tag = tagOf(contacts);
  const own = idOf(spoken, tag);
  const tags = [...stated.keys()].map((each) => tagOf(each.contacts));
  const gone = [...spoken.ids].filter(([each]) => !tags.includes(each)).map(([, id]) => id);
  return (own === undefined ? gone : [own]).filter((id) => id !== "");
}

/** The error of a row that was not sent because its look failed; `cause` is the error of the look. */
class LookError extends ConnectionError {}

export function lookFailed(cause: unknown): ConnectionError {
  const message =
    "Not sent: the contact could not be looked up, so it may have unsubscribed. The next run looks again.";
  return new LookError({ message, outcome: "not-sent", reason: "other", cause });
}

/** Whether every other row would meet an error is told by what the service said to the look. */
export function judgedError(error: unknown): unknown {
  return error instanceof LookError ? error.cause : error;
}

/**
 * Asks the service for a contact, with the client of the write that waits for it. Undefined if it has no contact with the
 * id any more.
 */
export async function look(call: Call, access: FamilyAccess, id: string): Promise<Profile | undefined> {
  const { client, options, settings, stopWaiting } = call;
  // It waits for the rate limit as its row does, and is none of the row's own calls.
  const hook: CallHook = { stop: call.hook!.stop, aroundCall: (own, next) => next(own), cutOff: () => {} };
  const ask = new Transport(settings, client).family(access);
  const { timeoutMs } = options;
  try {
    return await ask(
      getCustomer,
      { params: { id } },
      {
        signal: stopWaiting.signal,
        timeoutMs,
        priority: rowPriority,
        maxWaitMs: Infinity,
        deadlineMs: Infinity,
        [hookOption]: hook,
      },
    );
  } catch (error) {
    // A 404 without a JSON body comes from a gateway, and says nothing of a contact.
    if (isAudienceError(error) && error.code === "not_found" && isJson(error.body)) return undefined;
    throw error;
  }
}

function isJson(body: unknown): boolean {
  return typeof body === "object" && body !== null;
}
