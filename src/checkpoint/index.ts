// The entry "audience-sdk/checkpoint", listed by hand.
export { fileCheckpoint } from "./file-checkpoint.ts";
export type { Checkpoint, CheckpointValue, OpenCheckpoint } from "../bulk/checkpoint.ts";
