// The entries of a checkpoint: the line of a row, and that of the run.
import { ConfigurationError } from "../errors.ts";
import { type RecordedTarget, targetSchema } from "../organization.ts";
import type { Kept, KnownBy } from "./refusals.ts";

/**
 * What the next run must know of a row. `succeeded`: it was carried out. `sent`: it may have been. `once`: it may have been,
 * and must not be repeated. `failed`: nothing of it was.
 */
export interface RowRecord {
  readonly state: "succeeded" | "sent" | "once" | "failed";
  /** The number of the row's version, from 1. */
  readonly version: number;
  /** The fingerprint of its writes. */
  readonly print: string;
  /** The id of its contact, as the last response gave it. */
  readonly id: string | undefined;
  readonly kept: Kept | undefined;
}

/** The run that wrote the record last, and whose record it is. */
export interface RunLine {
  /** Of the checkpoint. */
  readonly id: string;
  readonly number: number;
  readonly isOver: boolean;
  readonly isKeyed: boolean;
  readonly target: RecordedTarget;
}

/** The line of a row. */
export const rowLine = /^(succeeded|sent|once|failed) \d+ \S+ \S+ \S+$/;
const none = "-";
/** A line has 2,000 characters. An id that takes more of them is looked up no more, and such channels are kept unnamed. */
const longestPart = 900;

export function encodeRow({ state, version, print, id, kept }: RowRecord): string {
  // Half of a character has no encoding.
  const named = (channel: string) => encodeURIComponent(channel.replaceAll(/\p{Surrogate}/gu, "\u{fffd}"));
  const channels = Object.entries(kept ?? {}).map(([channel, by]) => `${named(channel)}:${by}`);
  const parts = [encodeURIComponent(id ?? ""), channels.join(",")].map((part) =>
    part === "" || part.length > longestPart ? none : part,
  );
  return `${state} ${version} ${print} ${parts.join(" ")}`;
}

export function decodeRow(line: string): RowRecord {
  const [state, version, print, id, kept] = line.split(" ") as [string, string, string, string, string];
  const channels = kept === none ? [] : kept.split(",").map((each) => each.split(":") as [string, string]);
  return {
    // Safe: `rowLine` has checked the line.
    state: state as RowRecord["state"],
    version: Number(version),
    print,
    id: id === none ? undefined : decodeURIComponent(id),
    kept:
      channels.length === 0
        ? undefined
        : Object.fromEntries(channels.map(([channel, by]) => [decodeURIComponent(channel), by as KnownBy])),
  };
}

/** ASCII: a base URL and a name of an organization may hold any letter. */
export function encodeRun(run: RunLine): string {
  return encodeURI(JSON.stringify(run));
}

export function decodeRun(line: string): RunLine {
  try {
    // Safe: checked below, as far as it is read.
    const run = JSON.parse(decodeURI(line)) as RunLine;
    const isRun =
      typeof run.id === "string" && Number.isSafeInteger(run.number) && typeof run.isKeyed === "boolean";
    if (!isRun) throw new TypeError("not a run");
    return { ...run, target: targetSchema.parse(run.target) };
  } catch {
    throw damaged("an entry of its run that cannot be read");
  }
}

export function damaged(found: string): ConfigurationError {
  return new ConfigurationError(
    `The checkpoint has ${found}: it is damaged, or was written by another version. It is left unchanged. Restore it, or ` +
      "end its run with the version that wrote it. Another checkpoint sends every row.",
  );
}
