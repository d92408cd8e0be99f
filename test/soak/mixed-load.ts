import { join } from "node:path";
import { isAudienceError, write, type AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect } from "vitest";
import type { CallRecord } from "./mixed-state.ts";

interface Load {
  /** An additional client; it is closed here. */
  readonly open: () => AudienceClient;
  readonly listId: string;
  /** Of the imports' checkpoints. */
  readonly folder: string;
  readonly random: () => number;
}

interface SomeOptions {
  signal?: AbortSignal;
  deadlineMs?: number;
  priority: number;
}

/** Random calls, imports, lists and short-lived clients, all at once, until the time is over. */
export class MixedLoad {
  /** The reported outcome of each write. */
  readonly records: CallRecord[] = [];
  /** The number of calls by their outcome. */
  readonly counts = new Map<string, number>();
  readonly #load: Load;
  #client: AudienceClient;
  #serial = 0;
  #isOver = false;

  constructor(load: Load) {
    this.#load = load;
    this.#client = load.open();
  }

  async run({ callers, durationMs }: { callers: number; durationMs: number }): Promise<void> {
    const clock = setTimeout(() => this.#end(), durationMs);
    try {
      await Promise.all([
        ...Array.from({ length: callers }, () => this.#caller()),
        this.#imports(),
        this.#reopen(),
      ]);
    } finally {
      this.#end();
      clearTimeout(clock);
      await this.#client.close();
    }
  }

  #end(): void {
    this.#isOver = true;
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  async #caller(): Promise<void> {
    while (!this.#isOver) await this.#oneCall();
  }

  /** Clients are opened and closed; calls continue on the next client. */
  async #reopen(): Promise<void> {
    while (!this.#isOver) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 + this.#load.random() * 4_000));
      const closing = this.#client;
      this.#client = this.#load.open();
      await closing.close();
      this.#count("closed");
    }
  }

  async #oneCall(): Promise<void> {
    const { v1, v2 } = this.#client;
    const { listId, random } = this.#load;
    const id = `call-${this.#serial++}`;
    const email = `${id}@example.com`;
    const options = this.#options();
    switch (Math.floor(random() * 9)) {
      case 0:
        return this.#write("contact", id, () =>
          v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" }, options),
        );
      case 1:
        // Not repeatable, so it is sent at most once.
        return this.#write("once", id, () =>
          v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED", double_opt_in: true }, options),
        );
      case 2:
        return this.#write("member", id, () =>
          v1.contactGroups.addContact(listId, { email, email_opt_in: "SUBSCRIBED" }, options),
        );
      case 3:
        return this.#write("event", id, () =>
          v1.events.send({ eventName: "soak", uniqueIdentifier: id, contact: { email } }, options),
        );
      case 4:
        return this.#write("contact", id, () => v2.contacts.upsert(v2Contact(email, listId), options));
      case 5:
        return this.#read(() => v1.customers.get("nobody", options));
      case 6:
        return this.#read(() => v1.contactGroups.get(listId, options));
      case 7:
        return this.#read(() => this.#somePages(v1.customers.list({ limit: 20 }, options).pages()));
      default:
        return this.#read(() =>
          random() < 0.5
            ? this.#somePages(v1.contactGroups.list({ limit: 10 }, options).pages())
            : this.#somePages(v2.lists.list({ limit: 10 }, options)),
        );
    }
  }

  /** Some calls have a deadline, some a signal that is aborted at a random moment. */
  #options(): SomeOptions {
    const { random } = this.#load;
    const priority = Math.floor(random() * 10);
    const chance = random();
    if (chance < 0.06) return { priority, signal: AbortSignal.timeout(Math.ceil(random() * 150)) };
    return chance < 0.12 ? { priority, deadlineMs: Math.ceil(random() * 300) } : { priority };
  }

  /** One write, and its reported outcome. */
  async #write(kind: CallRecord["kind"], id: string, call: () => PromiseLike<unknown>): Promise<void> {
    const record: CallRecord = { kind, id, outcome: "applied" };
    try {
      await call();
    } catch (error) {
      if (!isAudienceError(error)) throw error;
      record.outcome = error.outcome;
      this.#count(error.code);
    }
    this.#count(record.outcome);
    this.records.push(record);
  }

  async #read(call: () => PromiseLike<unknown>): Promise<void> {
    try {
      await call();
      this.#count("read");
    } catch (error) {
      if (!isAudienceError(error)) throw error;
      expect(error.outcome).not.toBe("unknown");
      this.#count(error.code);
    }
  }

  async #somePages(pages: AsyncIterable<unknown>): Promise<void> {
    // About half of the loops are left early.
    let left = Math.ceil(this.#load.random() * 4);
    for await (const _ of pages) if (--left === 0) break;
  }

  async #imports(): Promise<void> {
    for (let run = 0; !this.#isOver; run++) {
      const rows = Array.from({ length: 40 }, (_, row) => `bulk-${run}-${row}`);
      const ended = await this.#import(rows, join(this.#load.folder, `${run}.ckpt`));
      for (const id of rows) this.records.push({ kind: "event", id, outcome: ended.get(id) ?? "unknown" });
      this.#count("imports");
    }
  }

  /** An import with a checkpoint, aborted and resumed until no row is left. */
  async #import(rows: readonly string[], path: string): Promise<Map<string, CallRecord["outcome"]>> {
    const ended = new Map<string, CallRecord["outcome"]>();
    for (let life = 0; life < 50 && ended.size < rows.length; life++) {
      // The last tasks end by themselves.
      const signal = life < 3 ? AbortSignal.timeout(Math.ceil(this.#load.random() * 1_500)) : undefined;
      const bulk = this.#client.bulk(
        rows,
        (id) =>
          write.v1.events.send({
            eventName: "soak",
            uniqueIdentifier: id,
            contact: { email: `${id}@example.com` },
          }),
        { key: (id) => id, checkpoint: fileCheckpoint(path), ...(signal && { signal }), concurrency: 5 },
      );
      try {
        for await (const { item, status, error } of bulk) {
          if (status === "succeeded" || status === "skipped") ended.set(item, "applied");
          else if (isAudienceError(error)) this.#count(`bulk ${error.code}`);
          else throw error;
        }
      } catch (error) {
        if (!isAudienceError(error)) throw error;
        this.#count(`bulk ended: ${error.code}`);
      }
    }
    return ended;
  }
}

function v2Contact(email: string, listId: string) {
  return {
    firstName: "Ada",
    listIds: [listId],
    identifiers: [
      {
        type: "email" as const,
        id: email,
        channels: { email: { status: "subscribed" } },
        consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
      },
    ],
  };
}
