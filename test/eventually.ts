import { vi } from "vitest";

/** Waits until what is expected is so, however busy the machine: only what never comes fails. */
export function eventually(check: () => unknown): Promise<unknown> {
  return vi.waitFor(check, { interval: 5, timeout: 60_000 });
}
