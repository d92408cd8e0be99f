import { ConfigurationError } from "../errors.ts";
import type { RecordedTarget } from "../organization.ts";
import { hasRefused, type ReadContact, type SnapshotContact, shownConsents } from "./contact.ts";
import type { FinishedHeading } from "./snapshot-file.ts";

/** What is another in a snapshot than in an earlier one. */
export type SnapshotChange =
  /** The earlier one does not have the contact: its consent counts too. */
  | { readonly kind: "new"; readonly contact: SnapshotContact; readonly before?: never }
  /** `before` is the contact as the earlier one has it. */
  | { readonly kind: "consent"; readonly contact: SnapshotContact; readonly before: SnapshotContact };

/** Somebody who is unsubscribed from a channel, or suppressed. */
export interface SnapshotRefusal {
  /** The contact, with all that the service showed of its consent. */
  readonly contact: SnapshotContact;
  /** When its page was asked for: a word of your own that is newer goes before it. */
  readonly readAt: Date;
}

/** A snapshot, as far as it is compared. */
export interface Compared extends AsyncIterable<SnapshotContact> {
  readonly heading: FinishedHeading;
  checkConsents(): void;
  find(query: { readonly id: string }): SnapshotContact | undefined;
  read(): AsyncIterable<ReadContact>;
}

/** Who is refused in a channel now and was not in it before; without an earlier snapshot, who is refused. */
export async function* refusalsBetween(
  later: Compared,
  last: Compared | undefined,
): AsyncGenerator<SnapshotRefusal, void, undefined> {
  checkComparable(later, last);
  for await (const { readAt, ...contact } of later.read()) {
    if (hasRefused(contact, last?.find({ id: contact.id }))) yield { contact, readAt: new Date(readAt) };
  }
}

export async function* changesBetween(
  later: Compared,
  earlier: Compared,
): AsyncGenerator<SnapshotChange, void, undefined> {
  checkComparable(later, earlier);
  for await (const contact of later) {
    const before = earlier.find({ id: contact.id });
    if (!before) yield { kind: "new", contact };
    else if (isAnotherConsent(contact, before)) yield { kind: "consent", contact, before };
  }
}

function checkComparable(later: Compared, earlier: Compared | undefined): void {
  if (earlier) checkTargets(later.heading.target, earlier.heading.target);
  later.checkConsents();
  earlier?.checkConsents();
}

/** A consent that is no longer shown is no change. */
function isAnotherConsent(contact: SnapshotContact, before: SnapshotContact): boolean {
  const earlier = shownConsents(before);
  return shownConsents(contact).some((value, at) => value !== undefined && value !== earlier[at]);
}

/** As of a checkpoint: a name that is given later takes over what was recorded with a key. */
function checkTargets(later: RecordedTarget, earlier: RecordedTarget): void {
  const [one, other] = [later.families.v1, earlier.families.v1];
  if (one?.baseUrl !== other?.baseUrl)
    throw refusal(
      `${one?.baseUrl} and ${other?.baseUrl} are two services`,
      "Compare snapshots of one service",
    );
  if (earlier.organization === undefined && later.organization !== undefined) return;
  if (earlier.organization !== later.organization)
    throw refusal(
      `the earlier one belongs to the organization ${JSON.stringify(earlier.organization)}, and the later one to ` +
        (later.organization === undefined ? "none that has a name" : JSON.stringify(later.organization)),
      "If it is the same one, read the later one with that name as `organization`",
    );
  if (one?.key !== other?.key)
    throw refusal(
      "they were read with two keys: of two organizations, or from before and after a rotation",
      "If it is the same organization, name it as `organization` in this read and all later ones",
    );
}

function refusal(problem: string, wayOut: string): ConfigurationError {
  return new ConfigurationError(`The snapshots cannot be compared: ${problem}. ${wayOut}.`);
}
