import { VirtualTime } from "../../rate-limiter/virtual-time.ts";

export type ProcessName = "A" | "B";

/** Virtual time in which each event belongs to a process, or to none. A killed process has no more events. */
export class OwnedTime extends VirtualTime {
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
