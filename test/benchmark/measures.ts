import { median } from "./report.ts";
import type { Sizes } from "./sizes.ts";

export interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** The output of `clients/program.mjs`; `constructed` and `called` without what an empty program takes. */
export interface Round {
  readonly constructed: Cost;
  readonly called: Cost;
  readonly perCall: Cost;
  readonly perPage: Cost;
  readonly perWorkedPage: Pick<Cost, "wallMs">;
  readonly waitingBytes: number;
}

export interface Client {
  readonly name: string;
  readonly program: string;
  readonly folder: string;
  readonly sizes: Sizes;
  readonly rounds: Round[];
}

export interface Measure {
  readonly name: string;
  /** Without one the figure is a count, and shown as it is. */
  readonly unit?: string;
  readonly of: (client: Client) => number;
  /** Why others are ahead of us, where they are. */
  readonly reason: string;
}

const medianOf = (pick: (round: Round) => number) => (client: Client) => median(client.rounds.map(pick));

export const measures: Readonly<Record<"start" | "calls", readonly Measure[]>> = {
  start: [
    {
      name: "import + construct, CPU",
      unit: "ms",
      of: medianOf(({ constructed }) => constructed.cpuMs),
      reason:
        "Most of ours is that of ky, which is built in and loads Node's own `fetch` with its import; many others load it with their first call: see the third column. The rest is our code and zod, whose schemas validate what is sent and received. The others do not validate: each sends a number as an e-mail address. `@hubspot/api-client` loads most of its code later.",
    },
    {
      name: "import + construct, time",
      unit: "ms",
      of: medianOf(({ constructed }) => constructed.wallMs),
      reason: "As for the CPU.",
    },
    {
      name: "and a first call, CPU",
      unit: "ms",
      of: medianOf(({ called }) => called.cpuMs),
      reason: "As before, and more than half of ours is the first `fetch` of a process alone.",
    },
    {
      name: "bundle, gzip",
      unit: "kB",
      of: ({ sizes }) => sizes.bundleBytes / 1e3,
      reason: "Two fifths of ours are zod, and a tenth is bottleneck, which bounds bulk runs.",
    },
    {
      name: "installed",
      unit: "MB",
      of: ({ sizes }) => sizes.installedBytes / 1e6,
      reason: "Four fifths of ours are zod, for its types; npm shares your own copy.",
    },
    {
      name: "packages",
      of: ({ sizes }) => sizes.packages,
      reason: "Our second one is zod.",
    },
  ],
  calls: [
    {
      name: "a call, CPU",
      unit: "ms",
      of: medianOf(({ perCall }) => perCall.cpuMs),
      reason:
        "A call of ours validates, keeps the order of writes, acquires a permit, goes through ky to `fetch`, and reads the response within bounds of size and time. stripe and klaviyo-api use `node:http`, which takes less than `fetch`. At 10 calls a second, ours takes one or two hundredths of a core.",
    },
    {
      name: "a call, time",
      unit: "ms",
      of: medianOf(({ perCall }) => perCall.wallMs),
      reason: "As for the CPU. The limit leaves 100 ms for each call.",
    },
    {
      name: "a page of 100, CPU",
      unit: "ms",
      of: medianOf(({ perPage }) => perPage.cpuMs),
      reason:
        "Ours checks the id of each item, and that no page comes twice. Where a client has no iterator, its items are counted page by page, not one by one.",
    },
    {
      name: "a page of 20 ms with 20 ms of work, time",
      unit: "ms",
      of: medianOf(({ perWorkedPage }) => perWorkedPage.wallMs),
      reason: "This is the machine's load: only ours fetches the next page during the work.",
    },
    {
      name: "a waiting call, memory",
      unit: "kB",
      of: medianOf(({ waitingBytes }) => waitingBytes / 1e3),
      reason:
        "A waiting call of ours holds its validated copy of the input, two abort controllers, and the steps that follow the wait.",
    },
  ],
};
