import type { BulkProgress } from "./result.ts";

/** As with hooks: what looks on changes nothing, neither by throwing nor by a promise that rejects. */
export async function notify(
  onProgress: (progress: BulkProgress) => unknown,
  progress: BulkProgress,
): Promise<void> {
  try {
    await onProgress(progress);
  } catch {
    // Its own affair.
  }
}
