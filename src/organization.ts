import * as z from "zod";
import { ConfigurationError } from "./errors.ts";
import { sha256 } from "./hash.ts";
import type { OpenedClient } from "./open-client.ts";
import type { FamilyIdentity, KeySource } from "./transport/api-key.ts";

/** One organization of one service, to which a run writes, and to which its checkpoint belongs (D104). */
export interface Target {
  /** The caller's own name of the organization; without one its keys identify it. */
  readonly organization: string | undefined;
  /** The families that the client has. */
  readonly families: readonly FamilyIdentity[];
  /** For the request of a key from a key function. */
  readonly timeoutMs: number;
}

const familySchema = z.object({
  baseUrl: z.string(),
  /** A salted hash; none where the organization has a name. */
  key: z.string().exactOptional(),
});

/** A target as a checkpoint records it. */
export const targetSchema = z.object({
  organization: z.string().exactOptional(),
  families: z.object({ v1: familySchema.exactOptional(), v2: familySchema.exactOptional() }),
});

export type RecordedTarget = z.infer<typeof targetSchema>;

/** Throws a `ConfigurationError` if the name is too long, or holds a key, as a checkpoint would show it. */
export function targetOf(organization: string | undefined, { settings, transport }: OpenedClient): Target {
  const { redactor } = transport.client;
  if (organization !== undefined && redactor.string(organization) !== organization)
    throw new ConfigurationError("`organization` must be a name of your own, and not hold a key.");
  // A line of a checkpoint has 2,000 characters of ASCII.
  if (organization !== undefined && organization.length > 100)
    throw new ConfigurationError("`organization` must have at most 100 characters.");
  return { organization, families: settings.families, timeoutMs: settings.call.timeoutMs };
}

/** Whether a client with these families may write to the target. */
export function isOfTarget({ families }: Target, others: readonly FamilyIdentity[]): boolean {
  return families.some(({ name, baseUrl, key }) =>
    others.some((other) => other.name === name && other.baseUrl === baseUrl && key.isSameAs(other.key)),
  );
}

/** Hints of a refusal: what refuses, where an organization must be named, and the other way out. */
const hints = {
  checkpoint: {
    by: "this run",
    namedIn: "this run and all later ones",
    otherwise: "give this run a checkpoint of its own",
  },
  snapshot: {
    by: "this run",
    namedIn: "`readSnapshot`, which then begins afresh, and in this run",
    otherwise: "give this run a snapshot of its own",
  },
  "earlier snapshot": {
    by: "the later one",
    namedIn: "`readSnapshot` of both",
    otherwise: "compare two of one organization",
  },
};

export type OfTarget = keyof typeof hints;

/** The record of the target in a new checkpoint, or one that was recorded for it. Throws if that was for another target. */
export async function recordTarget(
  { organization, families, timeoutMs }: Target,
  recorded: RecordedTarget | undefined,
  { salt, signal, what = "checkpoint" }: { salt: string; signal: AbortSignal; what?: OfTarget },
): Promise<RecordedTarget> {
  const now: RecordedTarget = { families: {}, ...(organization !== undefined && { organization }) };
  const familyKeys = new Map<KeySource, string>();
  for (const { name, baseUrl, key } of families) {
    now.families[name] = { baseUrl };
    if (organization !== undefined) continue;
    // Both families may have one key function.
    const familyKey = familyKeys.get(key) ?? (await key.request(timeoutMs, signal));
    familyKeys.set(key, familyKey);
    now.families[name].key = await sha256(JSON.stringify([salt, familyKey]));
  }
  if (recorded) checkSame(now, recorded, what);
  return { ...now, families: { ...recorded?.families, ...now.families } };
}

/** Throws if a target was recorded for another service or organization. A name that is given later takes over a key. */
export function checkSame(now: RecordedTarget, recorded: RecordedTarget, what: OfTarget): void {
  const { by, namedIn, otherwise } = hints[what];
  // No way out deletes the checkpoint: it knows which consents must not be overridden.
  const refuse = (problem: string, wayOut: string): never => {
    throw new ConfigurationError(`The ${what} ${problem}. ${wayOut}, or ${otherwise}.`);
  };
  for (const name of ["v1", "v2"] as const) {
    const [nowFamily, before] = [now.families[name], recorded.families[name]];
    if (!nowFamily || !before) continue;
    if (nowFamily.baseUrl !== before.baseUrl)
      refuse(
        `belongs to another service: ${name} at ${before.baseUrl}, not ${nowFamily.baseUrl}`,
        "Keep it for that service",
      );
    if (nowFamily.key !== undefined && before.key !== undefined && nowFamily.key !== before.key)
      refuse(
        `was recorded with another key of ${name} at ${nowFamily.baseUrl}: that of another organization, or one from before a rotation`,
        `If it is the same organization, name it as \`organization\` in ${namedIn}`,
      );
  }
  if (recorded.organization !== undefined) {
    if (now.organization === recorded.organization) return;
    const notThis =
      now.organization === undefined ? `and ${by} names none` : `not ${JSON.stringify(now.organization)}`;
    refuse(
      `belongs to the organization ${JSON.stringify(recorded.organization)}, ${notThis}`,
      "Name that one as `organization`",
    );
  }
  const recordedFamilies = Object.keys(recorded.families);
  // A checkpoint without a family in common proves nothing of the organization; a snapshot is read anew.
  const orNamed = what === "checkpoint" ? "" : `, or name the organization as \`organization\` in ${namedIn}`;
  if (recordedFamilies.length > 0 && !recordedFamilies.some((name) => name in now.families))
    refuse(
      `was recorded with ${recordedFamilies.join(" and ")}, which this client does not have`,
      `Configure that family too${orNamed}`,
    );
}
