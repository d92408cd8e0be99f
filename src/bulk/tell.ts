import type { BulkProgress } from "./result.ts";

/** As with hooks: what looks on changes nothing, neither by throwing nor by a promise that rejects. */
export function tell(onProgress: (progress: BulkProgress) => unknown, progress: BulkProgress): void {
  try {
    const looked = onProgress(progress);
    if (looked instanceof Promise) looked.catch(() => undefined);
  } catch {
    return;
  }
}
