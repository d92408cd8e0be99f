import Bottleneck from "bottleneck/light.js";

/** Begins the next task of a worker, whose `ended` never rejects; undefined if there is none. Must not reject. */
type Begin = () => Promise<{ readonly ended: Promise<unknown> } | undefined>;

/**
 * Runs workers, at most `concurrency` at a time: each begins one task after the other, until `begin` gives none. They take
 * turns: a task begins after the one before it has begun. Resolves when all tasks have ended.
 */
export async function runWorkers(concurrency: number, begin: Begin): Promise<void> {
  // The workers but the first, so that neither its timers nor its clock can hold up the tasks (D63).
  const bottleneck = new Bottleneck({ maxConcurrent: concurrency - 1, rejectOnDrop: false });
  const workers: Promise<void>[] = [];
  /** Begins the last task so far; undefined once there is none. */
  let lastTask: ReturnType<Begin> | undefined;
  const beginNext = () => (lastTask = lastTask ? lastTask.then((last) => last && begin()) : begin());
  const startWorker = async (): Promise<void> => {
    const worker = work();
    workers.push(worker);
    await worker;
  };
  const work = async (): Promise<void> => {
    let task = await beginNext();
    // Before the first task of this worker there may be none for another. The ids that bottleneck makes are of `Math.random`.
    if (task && concurrency > 1) void bottleneck.schedule({ id: String(workers.length) }, startWorker);
    for (; task; task = await beginNext()) await task.ended;
  };
  void startWorker();
  // Also the workers that start meanwhile.
  for (const worker of workers) await worker;
  // Drops the workers that have not started. Not awaited: with a constant `Math.random` it may not resolve, and it rejects
  // where all objects inherit a property.
  bottleneck.stop().catch(() => undefined);
}
