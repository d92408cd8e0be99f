import { RateLimiter } from "audience-sdk";
import { type IoredisLike, redisRateLimitStore } from "audience-sdk/redis";
import { type Permit, VirtualTime } from "../../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "../memory-redis.ts";

/** The choices of one run: first those of an earlier run, then the first option of each. */
export class Choices {
  readonly #taken: { index: number; readonly options: number }[];
  #next = 0;

  constructor(taken: { index: number; options: number }[] = []) {
    this.#taken = taken;
  }

  pick<Option>(options: readonly Option[]): Option {
    const choice = (this.#taken[this.#next] ??= { index: 0, options: options.length });
    if (choice.options !== options.length) throw new Error("The run is not the same when it is repeated.");
    this.#next += 1;
    return options[choice.index]!;
  }

  /** The choices of the next run: the last choice that has an option left takes it. Undefined after the last run. */
  following(): Choices | undefined {
    const taken = this.#taken.slice(0, this.#next);
    while (taken.length > 0) {
      const last = taken.pop()!;
      if (last.index + 1 < last.options) return new Choices([...taken, { ...last, index: last.index + 1 }]);
    }
    return undefined;
  }
}

type ProcessName = "A" | "B";

/** Virtual time in which each event belongs to a process, or to none. A killed process has no more events. */
class OwnedTime extends VirtualTime {
  readonly killed = new Set<ProcessName>();
  #owner: ProcessName | undefined;

  override at(time: number, callback: () => void): number {
    return this.atOf(this.#owner, time, callback);
  }

  atOf(owner: ProcessName | undefined, time: number, callback: () => void): number {
    return super.at(time, () => {
      if (owner && this.killed.has(owner)) return;
      this.#owner = owner;
      callback();
    });
  }
}

/** A lost request can arrive for so long. */
const arrivalGraceMs = 5_000;

interface Call {
  readonly by: ProcessName;
  /** The last moment at which it can arrive. */
  arrivesUntil: number;
}

/**
 * The count of the service. A call may arrive at any time from its sending to its response, and the limit must hold for
 * each of these times: so a call is over the limit if calls that may arrive within one window before it fill the limit.
 */
class Service {
  sent = 0;
  /** Whether the last call was over the limit. */
  isOver = false;
  readonly #limit: number;
  readonly #intervalMs: number;
  #calls: Call[] = [];

  constructor(limit: number, intervalMs: number) {
    this.#limit = limit;
    this.#intervalMs = intervalMs;
  }

  send(by: ProcessName, now: number): Call {
    this.sent += 1;
    this.#calls = this.#calls.filter(({ arrivesUntil }) => arrivesUntil > now - this.#intervalMs);
    this.isOver = this.#calls.length >= this.#limit;
    const call: Call = { by, arrivesUntil: Infinity };
    // It refuses a call over the limit, and does not count it.
    if (!this.isOver) this.#calls.push(call);
    return call;
  }

  /** The calls of a killed process can still arrive for a while. */
  kill(name: ProcessName, now: number): void {
    for (const call of this.#calls) {
      if (call.by === name) call.arrivesUntil = Math.min(call.arrivesUntil, now + arrivalGraceMs);
    }
  }
}

/** What is enumerated; all times are in milliseconds. */
export interface Bound {
  readonly onUnavailable: "local" | "reject";
  /** The window, for two requests. */
  readonly intervalMs: number;
  /** At most so many troubles: an outage of Redis, a loss of its memory, a lost reply, a killed process. */
  readonly troubles: number;
  /** A trouble begins or ends just before a request reaches Redis, but at most once in this time. */
  readonly everyMs: number;
  /** At most so many messages and calls that are slow, lost or unsent. */
  readonly deviations: number;
  /** B starts with A, or else just before any request of A up to this time. */
  readonly bStartsUntil: number;
  /** From when on A and B each have two calls that wait; before, they are idle. */
  readonly callsFrom: readonly (readonly [number, number])[];
  readonly untilMs: number;
}

type Change =
  | "nothing"
  | "away"
  | "hangs"
  | "empty"
  | "lost reply"
  | "back"
  | "back, empty"
  | "killed unsent"
  | "killed unanswered";

const limit = 2;
const [wayMs, slowWayMs] = [20, 450];
const [responseMs, slowResponseMs] = [100, 3_000];

/**
 * Two processes that share the limit through one Redis. Every choice of a schedule is made here.
 *
 * Redis changes only just before a request reaches it, because nobody sees a change earlier. A process is killed only
 * before it sends a request, or before it gets the reply, because it does nothing else that others see.
 */
export class World {
  /** The events, for people. Heartbeats without effect are left out. */
  readonly trace: string[] = [];
  /** By how many calls a window was exceeded at most. */
  over = 0;
  /** Redis was unavailable, or has lost data, or a reply. */
  hasFailed = false;
  troubles = 0;
  readonly service: Service;
  readonly #bound: Bound;
  readonly #choices: Choices;
  readonly #time = new OwnedTime();
  readonly #redis: MemoryRedis;
  readonly #limiters: RateLimiter[] = []; // one that is garbage-collected sends no heartbeats
  #network: "up" | "away" | "hangs" = "up";
  /** The requests that Redis carries out when it no longer hangs. */
  #held: (() => void)[] = [];
  #nextChangeAt = 0;
  #deviations = 0;
  /** The calls over the limit in the last window. */
  #overAt: number[] = [];
  #startB: (() => void) | undefined;

  constructor(bound: Bound, choices: Choices) {
    this.#bound = bound;
    this.#choices = choices;
    this.#redis = new MemoryRedis({ time: this.#time });
    this.service = new Service(limit, bound.intervalMs);
  }

  async run(): Promise<void> {
    const { callsFrom, bStartsUntil, untilMs } = this.#bound;
    const [aCallsFrom, bCallsFrom] = this.#choices.pick(callsFrom);
    const isLate = bStartsUntil > 0 && this.#choices.pick([false, true]);
    const startB = (at: number): void => void this.#time.atOf("B", at, () => this.#start("B", bCallsFrom));
    await this.#time.run(() => {
      this.#time.atOf("A", 0, () => this.#start("A", aCallsFrom));
      if (isLate) this.#startB = () => startB(this.#time.now());
      else startB(300);
    }, untilMs);
  }

  /** Of the troubles first, and then of the events. */
  get length(): number {
    return this.troubles * 1_000 + this.trace.length;
  }

  /** From `callsFrom` on a process always has two calls that wait; one that starts earlier only contacts Redis. */
  #start(name: ProcessName, callsFrom: number): void {
    this.#log(name, "starts");
    const { onUnavailable } = this.#bound;
    const store = redisRateLimitStore(this.#clientOf(name), { onUnavailable, localShare: 1 / 2 });
    const windows = [{ limit, intervalMs: this.#bound.intervalMs }];
    const limiter = new RateLimiter({ clock: this.#time.now, store, windows });
    this.#limiters.push(limiter);
    const acquire = (use: (permit: Permit) => void): void => {
      const again = (): void => void this.#time.after(500, () => acquire(use)); // refused without Redis
      void limiter.acquire().then(use, again);
    };
    const call = (): void =>
      acquire((permit) => {
        this.#send(name, permit);
        call();
      });
    if (callsFrom > this.#time.now()) acquire((permit) => permit.release("unsent"));
    this.#time.at(callsFrom, () => {
      call();
      call();
    });
  }

  #send(name: ProcessName, permit: Permit): void {
    const end = this.#deviate("is answered", "is answered late", "is lost");
    const call = this.service.send(name, this.#time.now());
    this.#log(name, this.service.isOver ? "SENDS A CALL OVER THE LIMIT" : "sends a call");
    if (this.service.isOver) this.#countOver(this.#time.now());
    this.#time.after(end === "is answered" ? responseMs : slowResponseMs, () => {
      const isLost = end === "is lost";
      call.arrivesUntil = this.#time.now() + (isLost ? arrivalGraceMs : 0);
      this.#log(name, isLost ? "loses a call" : "has a response");
      permit.release(isLost ? "lost" : "responded");
    });
  }

  /** One call of a killed process can arrive once, at any time of its grace: it is over the limit in one window only. */
  #countOver(now: number): void {
    this.#overAt = [...this.#overAt.filter((at) => at > now - this.#bound.intervalMs), now];
    this.over = Math.max(this.over, this.#overAt.length);
  }

  #clientOf(name: ProcessName): IoredisLike {
    return {
      evalsha: () => this.#redis.evalsha(),
      eval: (_script: string, _keys: number, ...rest: string[]) => {
        const request = JSON.parse(rest.at(-1)!) as Parameters<MemoryRedis["run"]>[0]; // written by the store
        const { ids, permits } = request;
        const states = permits.map(([, , state]) => (typeof state === "number" ? "responded" : state));
        const what = ids.length > 0 ? `asks for ${ids.length}` : `writes ${states.join(", ") || "nothing"}`;
        return this.#request(name, what, () => {
          const reply = this.#redis.run(request);
          if (states.length > 0) this.#log("Redis", `gets permits of ${name}: ${states.join(", ")}`);
          if (ids.length > 0) this.#log("Redis", `grants ${name} ${reply.granted} of ${ids.length} permits`);
          return JSON.stringify(reply);
        });
      },
    };
  }

  /** A request leaves, reaches Redis, is carried out or not, and the reply comes back or not. */
  #request<Reply>(name: ProcessName, what: string, carryOut: () => Reply): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#time.atOf(undefined, this.#time.now() + this.#deviate(wayMs, slowWayMs), () => {
        if (name === "A" && this.#startB) this.#mayStartB(this.#startB);
        const change = this.#change(name, what);
        if (change === "killed unsent") return;
        const reply = (deliver: () => void): void =>
          void this.#time.atOf(name, this.#time.now() + this.#deviate(wayMs, slowWayMs), deliver);
        const handle = (): void => {
          const value = carryOut();
          if (change !== "lost reply") reply(() => resolve(value));
        };
        if (this.#network === "up") handle();
        else if (this.#network === "hangs") this.#held.push(handle);
        else reply(() => reject(new Error("ECONNREFUSED")));
      });
    });
  }

  #mayStartB(startB: () => void): void {
    const mayWait = this.#time.now() <= this.#bound.bStartsUntil;
    if (mayWait && this.#choices.pick(["not yet", "B starts"]) === "not yet") return;
    this.#startB = undefined;
    startB();
  }
  /** What changes just before a request reaches Redis. */
  #change(name: ProcessName, what: string): Change {
    const now = this.#time.now();
    const mayBegin = this.troubles < this.#bound.troubles;
    const isUp = this.#network === "up";
    if (now < this.#nextChangeAt || (isUp && !mayBegin)) return "nothing";
    this.#nextChangeAt = now + this.#bound.everyMs;
    const options: Change[] = ["nothing"];
    if (isUp) options.push("away", "hangs", "empty", "lost reply");
    else options.push("back", ...(mayBegin ? (["back, empty"] as const) : []));
    if (mayBegin && this.#time.killed.size === 0) options.push("killed unsent", "killed unanswered");
    const change = this.#choices.pick(options);
    if (change !== "nothing" && change !== "back") this.troubles += 1;
    switch (change) {
      case "away":
      case "hangs":
        this.#network = change;
        this.hasFailed = true;
        this.#log("Redis", change === "away" ? "is away" : "hangs");
        break;
      case "lost reply":
        this.hasFailed = true;
        this.#log("Redis", `loses its next reply to ${name}`);
        break;
      case "empty":
        this.#empty();
        break;
      case "back":
      case "back, empty":
        if (change === "back, empty") this.#empty();
        this.#network = "up";
        this.#log("Redis", "is back");
        for (const carryOut of this.#held.splice(0)) carryOut();
        break;
      case "killed unsent":
      case "killed unanswered":
        this.#time.killed.add(name);
        this.service.kill(name, now);
        this.#log(name, `is killed ${change === "killed unsent" ? "before" : "after"} it ${what}`);
        break;
      case "nothing":
    }
    return change;
  }

  #empty(): void {
    this.#redis.loseMemory();
    this.hasFailed = true;
    this.#log("Redis", "is empty");
  }

  /** The first, unless the bound leaves a deviation. */
  #deviate<Option>(...options: [Option, ...Option[]]): Option {
    if (this.#deviations === this.#bound.deviations) return options[0];
    const option = this.#choices.pick(options);
    if (option !== options[0]) this.#deviations += 1;
    return option;
  }

  #log(who: string, what: string): void {
    this.trace.push(`${(this.#time.now() / 1_000).toFixed(3)} ${who} ${what}`);
  }
}
