import type { OpenCheckpoint, RecordedState } from "./checkpoint.ts";

/** The line of one row in the run's checkpoint, where there is one. */
export interface RowRecord {
  read(): Promise<RecordedState | undefined>;
  write(state: RecordedState | undefined): Promise<void>;
}

/** `onFailure` hears of a checkpoint that cannot keep its record: the run must not go on without. */
export function rowRecord(
  checkpoint: OpenCheckpoint | undefined,
  key: string,
  onFailure: (error: unknown) => void,
): RowRecord {
  const heard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  return {
    read: () => heard(() => checkpoint?.stateOf(key)),
    write: (state) => heard(() => checkpoint?.record(key, state)),
  };
}
