import { type ApiPromise, type CallOptions, RateLimiter } from "audience-sdk";
import { Book } from "./book.ts";
import type { ChaosTime } from "./chaos-time.ts";
import type { Dice } from "./dice.ts";
import { factsOf, type Input, people, send } from "./inputs.ts";
import { Table } from "./nights.ts";
import { callHeader, type Lineage, Process, type Surroundings } from "./process.ts";
import { type CallRecord, type Log, newLog, type RunRecord } from "./records.ts";
import { anyService, type Service } from "./service.ts";

const noFacts = { contacts: [], consent: {}, leavesEmailToService: false, isRepeatable: true };

/** A checkpoint, and the table that its runs import. */
export interface Import {
  readonly book: Book;
  readonly table: Table;
  isRunning: boolean;
}

/** The service, one process after the other, and the log of what they do. */
export class World {
  readonly time: ChaosTime;
  readonly dice: Dice;
  readonly service: Service;
  readonly log: Log = newLog();
  /** The e-mail consents at the start, by the contact's id. */
  readonly seeded: ReadonlyMap<string, string>;
  /** Whom its rows and writes are about: the fewer, the more often they meet. */
  readonly people: readonly number[];
  readonly imports: readonly Import[];
  /** Undefined while it is dead. */
  process: Process | undefined;
  readonly #surroundings: Surroundings;
  readonly #calls = new Map<string, CallRecord>();
  readonly #pending = new Set<Promise<void>>();
  #names = 0;

  constructor(time: ChaosTime, dice: Dice) {
    this.time = time;
    this.dice = dice;
    this.service = anyService(dice.split());
    const { rateLimits, keys, mock } = this.service;
    const { contacts } = mock.organization("chaos");
    this.seeded = new Map(contacts.map(({ id, email_opt_in }) => [id, email_opt_in]));
    this.log.secrets.push(...keys);
    this.#surroundings = {
      service: this.service,
      log: this.log,
      calls: this.#calls,
      limiter: rateLimits && new RateLimiter({ windows: rateLimits.windows }),
      troubles: dice.pick([0, 0.02, 0.1]),
      newName: (kind) => `${kind}-${(this.#names += 1)}`,
    };
    this.process = this.newProcess();
    this.people = dice.pick([people, people, people.slice(0, 2)]);
    this.imports = [0, 1].map((number) => ({
      book: new Book(`book-${number}`, time, dice.split()),
      table: new Table(dice.split(), this.people),
      isRunning: false,
    }));
  }

  newProcess(): Process {
    return new Process(this.#surroundings, this.dice.split());
  }

  /** Waits until nothing is under way in a live process. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Follows work of a process until its end, or the process's. */
  follow(process: Process, work: () => Promise<void>): void {
    const ended = Promise.race([work(), process.died]).finally(() => this.#pending.delete(ended));
    this.#pending.add(ended);
  }

  newCall(
    lineage: Lineage,
    input: Input | undefined,
    options: CallOptions,
    row?: { run: RunRecord; key: string },
  ): CallRecord {
    const record: CallRecord = {
      tag: `call-${this.log.calls.length}`,
      client: lineage.name,
      input,
      facts: input ? factsOf(input) : noFacts,
      options,
      startedAt: performance.now(),
      departures: [],
      answers: [],
      ...row,
    };
    this.log.calls.push(record);
    this.#calls.set(record.tag, record);
    return record;
  }

  /** The options of a call, with the tag by which its requests are known. */
  tagged({ options, tag }: CallRecord): CallOptions {
    return { ...options, headers: { [callHeader]: tag } };
  }

  /** Makes a write, and notes its end. */
  async write(process: Process, lineage: Lineage, record: CallRecord, dice: Dice): Promise<unknown> {
    const call = send(dice.pick(lineage.views), record.input!, this.tagged(record));
    return await this.watch(process, record, dice.chance(0.5) ? call : withAttempts(call, record));
  }

  /** Notes the end of a call, unless its process is dead: then nobody hears of it. */
  async watch<T>(process: Process, record: CallRecord, call: PromiseLike<T>): Promise<T> {
    try {
      const value = await call;
      if (!process.isDead) Object.assign(record, { settledAt: performance.now(), value });
      return value;
    } catch (error) {
      if (!process.isDead) Object.assign(record, { settledAt: performance.now(), error });
      throw error;
    }
  }
}

/** What a call answers, and how it got there. */
export async function withAttempts<Value>(call: ApiPromise<Value>, record: CallRecord): Promise<Value> {
  const { data, attempts } = await call.withResponse();
  Object.assign(record, { attempts });
  return data;
}
