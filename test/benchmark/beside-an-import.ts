// The waits of calls that a person makes beside an import, in virtual time: our limiter and bottleneck, which has priorities
// too.
import { randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { bottlenecks, type CreateLimiter, ours, runWithIntervals } from "./limiters.ts";

const hourMs = 3_600_000;
export const hours = 3;
const workers = 10;
const rowPriority = 9;
/** Calls of people in each hour. */
export const callsPerHour = 60;

/** A call beside an import. */
export interface CallBeside {
  readonly askedAtMs: number;
  readonly waitMs: number;
}

export interface Beside {
  readonly name: string;
  readonly calls: readonly CallBeside[];
  readonly rows: number;
}

/** Ten workers that send row after row at priority 9, and calls of people at random moments, at priority 5. */
async function simulate(name: string, create: CreateLimiter): Promise<Beside> {
  const time = new VirtualTime();
  const random = randomFrom(1);
  const calls: CallBeside[] = [];
  let rows = 0;
  const isOpen = (): boolean => time.now() < hours * hourMs;
  const responseTime = () => new Promise<void>((resolve) => void time.after(10 + 590 * random(), resolve));
  await runWithIntervals(
    time,
    () => calls.length < callsPerHour * hours,
    () => {
      const schedule = create(time);
      const work = async (): Promise<void> => {
        while (isOpen()) {
          await schedule(async () => {
            if (isOpen()) rows += 1;
            await responseTime();
            return 0;
          }, rowPriority);
        }
      };
      const visit = async (): Promise<void> => {
        const askedAtMs = time.now();
        await schedule(async () => {
          calls.push({ askedAtMs, waitMs: time.now() - askedAtMs });
          await responseTime();
          return 0;
        }, 5);
      };
      for (let worker = 0; worker < workers; worker += 1) void work();
      for (let call = 0; call < callsPerHour * hours; call += 1)
        time.at((Math.floor(call / callsPerHour) + random()) * hourMs, () => void visit());
    },
  );
  return { name, calls, rows };
}

export async function callsBesideAnImport(): Promise<readonly Beside[]> {
  return [await simulate("audience-sdk", ours), await simulate("bottleneck", bottlenecks)];
}
