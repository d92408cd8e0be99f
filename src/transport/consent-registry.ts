import type { ConsentWrite } from "../consent.ts";
import type { ConsentWatch, FamilyIdentity } from "./call.ts";

interface Registry {
  readonly watches: Set<ConsentWatch>;
  /** The writes that state a consent, from their begin to their end. */
  readonly writes: Map<ConsentWrite, readonly FamilyIdentity[]>;
}

/** One of the process, which both module formats share: a run must know the writes of every client. */
const registryKey = Symbol.for("audience-sdk.consent-registry");

function registry(): Registry {
  // Safe: only this package writes this property.
  const global = globalThis as { [registryKey]?: Registry };
  return (global[registryKey] ??= { watches: new Set(), writes: new Map() });
}

/** Notifies a watch of consent writes, also of those under way, until the returned function is called. */
export function watchConsents(watch: ConsentWatch): () => void {
  const { watches, writes } = registry();
  watches.add(watch);
  for (const [write, families] of writes) if (watch.concerns(families)) void watch.begins(write, families);
  return () => void watches.delete(watch);
}

/** The watches that a write concerns, but its own. A write under way is known to a watch that is added meanwhile. */
export function announce(
  write: ConsentWrite,
  families: readonly FamilyIdentity[],
  own: ConsentWatch | undefined,
) {
  const { watches, writes } = registry();
  writes.set(write, families);
  return {
    watches: () => [...watches].filter((watch) => watch !== own && watch.concerns(families)),
    end: () => void writes.delete(write),
  };
}
