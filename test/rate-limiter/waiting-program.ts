// A process with a call that waits, or with a limiter that is idle. Started by `clock-and-timers.test.ts`.
import { RateLimiter } from "audience-sdk";
import { spend } from "./virtual-time.ts";

async function main(): Promise<void> {
  if (process.argv[2] === "waiting") {
    const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 200 }] });
    await spend(limiter, 1);
    await limiter.acquire();
    console.log("left");
    return;
  }
  const limiter = new RateLimiter();
  await spend(limiter, 10);
  const controller = new AbortController();
  const waits = limiter
    .acquire({ signal: controller.signal })
    .catch((reason: unknown) => console.log(reason));
  controller.abort("gave up");
  await waits;
  // Only timers that keep the process alive are listed.
  console.log(process.getActiveResourcesInfo().includes("Timeout") ? "late" : "at once");
}

void main();
