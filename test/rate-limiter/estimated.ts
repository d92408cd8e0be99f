import { type Permit, RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Warms a limiter up with 80 calls, then sends `calls` more: the estimate and the real time. */
export async function estimated(
  calls: number,
  roundTripMs: () => number,
): Promise<{ estimatedMs: number; tookMs: number }> {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now });
  const begin = 70_000;
  let [estimatedMs, tookMs] = [0, 0];
  const send = (permit: Permit): void => {
    time.after(roundTripMs(), () => {
      permit.release("responded");
      tookMs = time.now() - begin;
    });
  };
  const call = (): void => {
    void limiter.acquire().then(send);
  };
  await time.run(() => {
    for (let index = 0; index < 80; index += 1) call();
    time.at(begin, () => {
      estimatedMs = limiter.estimateMs(calls);
      for (let index = 0; index < calls; index += 1) call();
    });
  });
  return { estimatedMs, tookMs };
}
