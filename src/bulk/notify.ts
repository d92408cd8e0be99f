import type { BulkProgress } from "./result.ts";

/** Calls `onProgress`. As with hooks, an error or a rejection of it changes nothing. */
export async function notify(
  onProgress: (progress: BulkProgress) => unknown,
  progress: BulkProgress,
): Promise<void> {
  try {
    await onProgress(progress);
  } catch {
    // The user's function failed, not the run.
  }
}
