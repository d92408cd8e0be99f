type Method = "open" | "append" | "rewrite" | "close";

interface Line {
  readonly text: string;
  readonly isFlushed: boolean;
}

/** A checkpoint of one's own, in memory: a journal of lines that outlives the processes of a test. */
export class MemoryCheckpoint {
  /** What its runs asked of it, in order. */
  readonly log: string[] = [];
  /** Thrown by the next call of the method. */
  readonly fails = new Map<Method, unknown>();
  #lines: Line[];
  #isOpen = false;

  constructor(lines: readonly string[] = []) {
    this.#lines = lines.map((text) => ({ text, isFlushed: true }));
  }

  get lines(): string[] {
    return this.#lines.map(({ text }) => text);
  }

  /** What is left if the process is killed now. */
  copy(): MemoryCheckpoint {
    return new MemoryCheckpoint(this.lines);
  }

  /** What is left if the power fails now: all up to the last line that had to be stored. */
  afterPowerLoss(): MemoryCheckpoint {
    const stored = this.#lines.findLastIndex(({ isFlushed }) => isFlushed);
    return new MemoryCheckpoint(this.lines.slice(0, stored + 1));
  }

  async open() {
    this.#step("open");
    if (this.#isOpen) throw new Error("another run has the checkpoint open");
    this.#isOpen = true;
    return {
      lines: this.read(),
      append: (text: string, { flush }: { flush: boolean }) => this.append(text, flush),
      rewrite: (lines: Iterable<string>) => this.rewrite(lines),
      close: async () => {
        this.#step("close");
        this.#isOpen = false;
      },
    };
  }

  async append(text: string, isFlushed: boolean): Promise<void> {
    this.#step("append");
    this.#lines.push({ text, isFlushed });
  }

  async rewrite(lines: Iterable<string>): Promise<void> {
    this.#step("rewrite");
    this.#lines = [...lines].map((text) => ({ text, isFlushed: true }));
  }

  protected async *read(): AsyncGenerator<string> {
    yield* this.lines;
  }

  #step(method: Method): void {
    if (this.fails.has(method)) throw this.fails.get(method);
    this.log.push(method);
  }
}

/** Its lines are so long that each run rewrites them as the fewest that say the same. */
export class RewrittenCheckpoint extends MemoryCheckpoint {
  protected override async *read(): AsyncGenerator<string> {
    for (const line of this.lines) yield line.padEnd(100_000);
  }
}
