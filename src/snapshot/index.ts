// The entry "audience-sdk/snapshot".
export { readSnapshot } from "./read-snapshot.ts";
export type { ReadSnapshotOptions, SnapshotProgress } from "./read-snapshot.ts";
export { openSnapshot } from "./snapshot.ts";
export type { Snapshot, SnapshotQuery } from "./snapshot.ts";
export type { SnapshotChange, SnapshotContact, SnapshotFields, SnapshotRefusal } from "./snapshot-contact.ts";
