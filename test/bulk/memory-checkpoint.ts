import type { Checkpoint, OpenCheckpoint } from "audience-sdk/checkpoint";

type Method = "open" | "put" | "clear" | "close";

interface Put {
  readonly name: string;
  readonly line: string;
  readonly flush: boolean;
}

const ascii = /^[\x20-\x7e]+$/;

/** A checkpoint of one's own, in memory: a table of names and lines that outlives the processes of a test. */
export class MemoryCheckpoint implements Checkpoint {
  /** What its runs asked of it, in order. */
  readonly log: Method[] = [];
  /** Thrown by each further call of the method. */
  readonly fails = new Map<Method, unknown>();
  #puts: Put[];
  #isOpen = false;

  constructor(puts: readonly Put[] = []) {
    this.#puts = [...puts];
  }

  /** Each name with its line. */
  get entries(): Map<string, string> {
    return new Map(this.#puts.map(({ name, line }) => [name, line]));
  }

  /** All that was put, in order. */
  get puts(): readonly Put[] {
    return this.#puts;
  }

  /** What is left if the process is killed now. */
  copy(): MemoryCheckpoint {
    return new MemoryCheckpoint(this.#puts);
  }

  /** What is left if the power fails now: all up to the last line that had to be stored. */
  afterPowerLoss(): MemoryCheckpoint {
    return new MemoryCheckpoint(this.#puts.slice(0, this.#puts.findLastIndex(({ flush }) => flush) + 1));
  }

  async open(): Promise<OpenCheckpoint> {
    this.#step("open");
    if (this.#isOpen) throw new Error("another run has the checkpoint open");
    this.#isOpen = true;
    const progress = { isRead: false };
    return {
      entries: this.#read(progress),
      put: (name, line, { flush }) => {
        if (!progress.isRead) throw new Error("put was called before the entries were read");
        return this.put(name, line, flush);
      },
      clear: async () => {
        this.#step("clear");
        this.#puts = [];
      },
      close: async () => {
        this.#step("close");
        this.#isOpen = false;
      },
    };
  }

  async put(name: string, line: string, flush: boolean): Promise<void> {
    this.#step("put");
    const isWithinLimits = ascii.test(name) && name.length <= 200 && ascii.test(line) && line.length <= 2_000;
    if (!isWithinLimits) throw new Error(`a name or line of a checkpoint passes the limits: ${name} ${line}`);
    this.#puts.push({ name, line, flush });
  }

  async *#read(progress: {
    isRead: boolean;
  }): OpenCheckpoint["entries"] & AsyncGenerator<readonly [string, string]> {
    yield* this.entries;
    progress.isRead = true;
  }

  #step(method: Method): void {
    if (this.fails.has(method)) throw this.fails.get(method);
    this.log.push(method);
  }
}
