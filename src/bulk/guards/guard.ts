import type { Profile } from "../../v1/schemas/profile.ts";
import { type KnownBy, refusalsOf, type RowWrite, saysOnlyRefusals } from "../refusals.ts";
import type { SupersededReason } from "../result.ts";
import type { ReadRow } from "../rows.ts";

/** Knows refusals of the people of rows, or that a row must not go. */
export interface Guard {
  /** For messages. */
  readonly name: string;
  /** How old its answer may be when a row leaves, in milliseconds; 0: it answers at that moment, at once. */
  readonly maxAgeMs: number;
  /** It is asked before each attempt; another only when its answer is missing or grows old. */
  readonly isAskedAlways?: boolean;
  /** Rejects with a `RowStop` if the row must not go. */
  ask(row: GuardedRow, signal: AbortSignal): readonly Word[] | Promise<readonly Word[]>;
}

export interface GuardedRow extends ReadRow<unknown> {
  /** The id of the contact that the response of an earlier night gave. */
  readonly recordedId: string | undefined;
}

/** What is known of a channel at these addresses: whether it is refused. */
export interface Word {
  readonly by: KnownBy;
  readonly channel: string;
  /** Keys of the contact: one that a write names. */
  readonly addresses: readonly string[];
  readonly isRefused: boolean;
  /** Of two words the later one counts: a count of what happened (`nextMoment`); Infinity for one that nothing lifts. */
  readonly moment: number;
  readonly service?: Profile | undefined;
}

let moment = 0;

/** Counts what happens in this process, so that of two words the later one is known. */
export function nextMoment(): number {
  return ++moment;
}

type StopReason =
  | { readonly error: unknown }
  | { readonly reason: SupersededReason; readonly service?: Profile | undefined };

/** Ends a row; thrown through the transport, so that no layer takes it for a failure of the call. */
export class RowStop extends Error {
  readonly why: StopReason;

  constructor(why: StopReason, message = "the row is not sent") {
    super(message);
    this.why = why;
  }
}

/** The row is not sent: its opt-outs are named. */
export function superseded(
  writes: readonly RowWrite[],
  cause: string,
  reason: SupersededReason,
  service?: Profile,
): RowStop {
  const optOuts = [...new Set(writes.flatMap(({ said }) => refusalsOf(said)))];
  const further = ` Nor was its opt-out of ${optOuts.join(" and ")}: send that by a call of its own.`;
  const message = `${cause}: the row was not sent, or not sent again.${optOuts.length > 0 ? further : ""}`;
  return new RowStop({ reason, ...(service && { service }) }, message);
}

/** Whether nothing but `isCurrent` may hold the row back. */
export function refusesOnly({ writes }: GuardedRow): boolean {
  const spoken = writes.filter(({ said }) => said.size > 0);
  return spoken.length > 0 && spoken.every(({ said }) => saysOnlyRefusals(said));
}

/** The keys by which a word about the channel concerns a contact: its addresses of this kind, or else all its keys. */
export function addressesOf(channel: string, contacts: readonly string[]): readonly string[] {
  const addresses = contacts.filter((key) => key.startsWith(`${channel}:`));
  return addresses.length > 0 ? addresses : contacts;
}
