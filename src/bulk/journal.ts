import { ConfigurationError } from "../errors.ts";
import { randomUuid } from "../runtime.ts";
import { openCheckpoint } from "./checkpoint-calls.ts";
import type { Checkpoint, OpenCheckpoint } from "./checkpoint.ts";
import { damaged, decodeEvent, encodeEvent, type JournalEvent } from "./events.ts";
import { shortHash } from "./hash.ts";
import { Ledger } from "./ledger.ts";
import { recordTarget, type RecordedTarget, type Target } from "./target.ts";

interface JournalSettings {
  readonly isKeyed: boolean;
  readonly target: Target;
  readonly signal: AbortSignal;
  /** Aborted when the run ends early: a checkpoint that hangs does not hold up its end. */
  readonly end?: AbortSignal;
  /** Called if the checkpoint fails: the run must not continue without a record. */
  readonly onFailure: (error: unknown) => void;
}

/** What a run has learned, folded as it is written. Without a checkpoint it holds the consents of other calls alone. */
export class Journal {
  readonly ledger: Ledger;
  readonly #opened: OpenCheckpoint | undefined;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  #isClosed = false;

  private constructor(ledger: Ledger, opened?: OpenCheckpoint, onFailure?: (error: unknown) => void) {
    this.ledger = ledger;
    this.#opened = opened;
    this.#onFailure = onFailure;
  }

  static inMemory(): Journal {
    return new Journal(new Ledger());
  }

  /** Opens a checkpoint for a run. Rejects, and closes it, if it cannot be read, or belongs to another organization. */
  static async open(checkpoint: Checkpoint, settings: JournalSettings): Promise<Journal> {
    return await withOpen(await openCheckpoint(checkpoint, settings.end), async (opened) => {
      const { ledger, bytes } = await readLedger(opened);
      const id = ledger.run?.id ?? randomUuid();
      const target = await checkRun(ledger, settings, id);
      const journal = new Journal(ledger, opened, settings.onFailure);
      await journal.#compact(bytes);
      // Before the first row, so that no other target goes on with it.
      await journal.add(["run", id, settings.isKeyed, target], { flush: true });
      return journal;
    });
  }

  /** Reads a checkpoint, leaves it as it is, and closes it. */
  static async read(checkpoint: Checkpoint, settings: Omit<JournalSettings, "onFailure">): Promise<Journal> {
    return await withOpen(await openCheckpoint(checkpoint), async (opened) => {
      const { ledger } = await readLedger(opened);
      await checkRun(ledger, settings, ledger.run?.id ?? "");
      const journal = new Journal(ledger, opened);
      await journal.close();
      return journal;
    });
  }

  /** Whether it outlives the process. */
  get isRecorded(): boolean {
    return this.#opened !== undefined;
  }

  /** Folds an event at once, and resolves when it is recorded. */
  async add(event: JournalEvent, { flush = false }: { readonly flush?: boolean } = {}): Promise<void> {
    // The call of a row after the end of its run: another run may use the checkpoint now.
    if (this.#isClosed) throw new ConfigurationError("The run is over, and its checkpoint is closed.");
    const isOver = !this.ledger.run && event[0] !== "run";
    this.ledger.fold(event);
    // After the end of a run without keys nothing counts any more.
    if (!this.#opened || isOver) return;
    // Not one after the other: an operation that hangs must not hold up every row.
    try {
      await this.#opened.append(encodeEvent(event), { flush });
    } catch (error) {
      if (!this.#isClosed) this.#onFailure?.(error);
      throw error;
    }
  }

  /** The name of a contact or of a row: recorded ones are hashed. */
  async nameOf(key: string): Promise<string> {
    return this.isRecorded ? await shortHash(key) : key;
  }

  /** The next run is another one: with a `key` it compares its rows with these, and without one it begins afresh. */
  async complete(): Promise<void> {
    if (!this.isRecorded) return;
    await this.add(["over"], { flush: true });
    if (!this.ledger.run) await this.#rewrite([]);
  }

  /** What hangs then was cut off by the end of the run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.close();
  }

  async #compact(bytes: number): Promise<void> {
    if (bytes > 2 * this.ledger.size) await this.#rewrite(this.#compacted());
  }

  *#compacted(): Generator<string> {
    for (const event of this.ledger.compacted()) yield encodeEvent(event);
  }

  /** It only saves space: if it fails, as on a full disk, the journal is sound as it is. */
  async #rewrite(lines: Iterable<string>): Promise<void> {
    await this.#opened?.rewrite(lines).catch(() => undefined);
  }
}

async function withOpen<Result>(
  opened: OpenCheckpoint,
  use: (opened: OpenCheckpoint) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function readLedger({ lines }: OpenCheckpoint): Promise<{ ledger: Ledger; bytes: number }> {
  const ledger = new Ledger();
  let [bytes, number] = [0, 0];
  for await (const line of lines) {
    bytes += line.length;
    number += 1;
    const event = decodeEvent(line, number);
    // Its first lines are lost, and with them whose rows these are.
    if (!ledger.run && event[0] !== "run") throw damaged(number);
    ledger.fold(event);
  }
  return { ledger, bytes };
}

/** The target as it is to be recorded. Throws if the journal is of another kind of run, or of another target. */
async function checkRun(
  ledger: Ledger,
  { isKeyed, target, signal }: Omit<JournalSettings, "onFailure">,
  salt: string,
): Promise<RecordedTarget> {
  const { run } = ledger;
  if (run && run.isKeyed !== isKeyed) {
    const kind = run.isKeyed ? "with" : "without";
    throw new ConfigurationError(
      `The checkpoint was written ${kind} a \`key\`. Run it ${kind} a \`key\` again, or name another checkpoint.`,
    );
  }
  // After a run with a wrong key, or to a wrong address, it belongs to nobody yet.
  const recorded = ledger.isBlank ? undefined : run?.target;
  return await recordTarget(target, recorded, { salt, signal });
}
