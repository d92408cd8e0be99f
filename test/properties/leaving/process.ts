import { AudienceClient } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import type { Plan } from "./plans.ts";

export type Job = "job" | "web" | "process";

/** How a request travels. */
export interface Travel {
  readonly life: number;
  readonly isDead: () => boolean;
  readonly dies: (leg: number) => Promise<void>;
}

interface Service {
  readonly mock: MockService;
  readonly reaches: (requests: number) => void;
  readonly request: (url: string, init: RequestInit, by: Job, travel: Travel) => Promise<Response>;
}

/** A process: its clients, until it dies. */
export class Process {
  readonly clients: Readonly<Record<Job, AudienceClient>>;
  readonly warnings: string[] = [];
  readonly died: Promise<void>;
  readonly life: number;
  /** Its run has begun. */
  isRunning = false;
  isDead = false;
  #requests = 0;
  #die: () => void = () => {};

  constructor(world: Service, dyingAt: number, { hasV2Alone, latencies }: Plan, life: number) {
    this.life = life;
    this.died = new Promise((resolve) => (this.#die = resolve));
    const fetchAs = (by: Job) => async (url: string, init: RequestInit) => {
      const number = this.isRunning ? this.#requests++ : -1;
      world.reaches(number);
      const dies = async (leg: number) => {
        if (leg === 1 && number === dyingAt) {
          this.isDead = true;
          this.#die();
        }
        // Another process may be quicker than a row between its look and its write.
        if (by !== "process") await turns(latencies[(number + 1 + leg) % latencies.length]!);
      };
      return await world.request(url, init, by, { life, isDead: () => this.isDead, dies });
    };
    const {
      apiKey: _,
      baseUrl,
      ...options
    } = { ...world.mock.clientOptions, maxRetries: 0, rateLimiter: false as const };
    const logger = { warn: (line: string) => void this.warnings.push(line) };
    const newClient = (by: Job) => {
      const apiKey = by === "process" ? "mock-key-of-process" : "mock-key-of-job";
      const given = { ...options, fetch: fetchAs(by), ...(by === "job" && { logger }) };
      return new AudienceClient(
        hasV2Alone && by === "job" ? { ...given, apiKeyV2: apiKey } : { ...given, baseUrl, apiKey },
      );
    };
    this.clients = { job: newClient("job"), web: newClient("web"), process: newClient("process") };
  }

  /** After its death: what still runs of it begins no further call, of which the next process would be told. */
  close(): void {
    for (const client of Object.values(this.clients)) void client.close();
  }

  get job(): AudienceClient {
    return this.clients.job;
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
