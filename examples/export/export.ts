import { rmSync } from "node:fs";
import { AudienceClient, type ClientOptions, isAudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { readSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { checkRegular, FileRefused } from "../../src/files/regular-file.ts";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { InputError, messageInClone, type ProgramSurroundings } from "../console/program.ts";
import { Progress } from "../console/progress.ts";
import { say, type Output } from "../console/terminal.ts";
import { type ExportArguments, help, parseArguments } from "./arguments.ts";
import { writeTable } from "./table.ts";

/** The inputs of the export from its process. */
export interface ExportSurroundings extends Omit<ProgramSurroundings, "input"> {
  /** Options over those of the environment. */
  readonly client?: ClientOptions | undefined;
}

/** Exports the audience and returns the exit code. */
export async function runExport(surroundings: ExportSurroundings): Promise<number> {
  const { args, output, errors, signal } = surroundings;
  try {
    const options = parseArguments(args);
    if (options.isHelp) say(output, help);
    else await exportAudience(options, surroundings);
    return 0;
  } catch (error) {
    if (signal.aborted) {
      say(output, "", "Stopped. The same command goes on where it was.");
      return 130;
    }
    if (error instanceof InputError) {
      say(errors, error.message, "npm run export -- --help shows the options.");
      return 2;
    }
    const isRefused = error instanceof FileRefused;
    if (!isRefused && !isAudienceError(error)) throw error;
    say(errors, `The export was ended: ${messageInClone(error)}`);
    if (isRefused || error.code === "configuration") return 2;
    say(errors, "The same command goes on where it was.");
    return 1;
  }
}

async function exportAudience(
  options: ExportArguments,
  { output, signal, client }: ExportSurroundings,
): Promise<void> {
  const { file, format, hasAllFields, isMock, reserve, organization } = options;
  await using audience = new AudienceClient({
    ...(reserve !== undefined && { rateLimiter: { reserve } }),
    ...client,
    ...(isMock ? mockOptions() : {}),
  });
  // The table is written last.
  checkRegular(file);
  // A table is made of a snapshot beside it.
  const snapshotFile = format === "csv" ? `${file}.ndjson` : file;
  const bar = new ReadingBar(output);
  using snapshot = await readSnapshot(audience, {
    file: snapshotFile,
    fields: hasAllFields ? "all" : "consent",
    signal,
    organization,
    onProgress: (progress) => bar.show(progress),
  }).finally(() => bar.end());
  if (format === "csv") {
    await writeTable(file, snapshot);
    rmSync(snapshotFile);
  }
  say(output, ...endingOf(file, snapshot));
}

function endingOf(file: string, { size, complete, readAt }: Snapshot): string[] {
  return [
    `Wrote ${counted(size, "contact")} to ${file}, as the service showed them from ${readAt.toISOString()} on.`,
    complete
      ? "Every page told the same total, and as many contacts came."
      : "The pages told no total, or not the same one: somebody may be missing.",
    "The file holds personal data: keep it no longer than you need it.",
  ];
}

/** A bar where the total is known, and else the number of contacts. */
class ReadingBar {
  readonly #output: Output;
  #progress: Progress | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  show({ done, total, etaMs }: { done: number; total?: number; etaMs?: number }): void {
    if (!total) return say(this.#output, `   ${inFull(done)} contacts`);
    this.#progress ??= new Progress({ output: this.#output, total, unit: "contacts" });
    this.#progress.advanceTo(Math.min(done, total), etaMs ? `${formatDuration(etaMs)} left` : "");
  }

  end(): void {
    this.#progress?.end();
  }
}

/** An organization of 250 people, in process. */
function mockOptions(): ClientOptions {
  const contacts = Array.from({ length: 250 }, (_, index) => ({
    email: `person-${index}@example.com`,
    phone: `+44163296${String(index).padStart(4, "0")}`,
    first_name: "Ada",
    email_opt_in: index % 5 === 0 ? ("UNSUBSCRIBED" as const) : ("SUBSCRIBED" as const),
  }));
  const organizations = [{ id: "export", apiKeys: ["mock-key-of-the-export"], appId: "mock-app", contacts }];
  return {
    ...createMockService({ organizations, variants: { v1Paging: "totals" } }).clientOptions,
    rateLimiter: false,
  };
}
