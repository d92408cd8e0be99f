/** One line of a trace: who did what, and when. */
interface Event {
  readonly at: number;
  readonly who: string;
  readonly what: string;
}

/** The events of one schedule, for people. Heartbeats without effect are left out. */
export class Trace {
  readonly events: Event[] = [];

  add(at: number, who: string, what: string): void {
    this.events.push({ at, who, what });
  }

  toString(): string {
    const rows = this.events.map(({ at, who, what }) => [(at / 1_000).toFixed(3), who, what]);
    const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
    const line = ([time, who, what]: string[]): string =>
      `| ${time!.padStart(widths[0]!)} | ${who!.padEnd(widths[1]!)} | ${what!.padEnd(widths[2]!)} |`;
    const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
    return [line(["s", "who", "event"]), rule, ...rows.map(line)].join("\n");
  }
}
