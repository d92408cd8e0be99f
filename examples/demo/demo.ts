import { fileURLToPath } from "node:url";
import { isAudienceError } from "audience-sdk";
import { help, readArguments, UsageError, type DemoArguments } from "./arguments.ts";
import { checkRows, type CheckedRows } from "./check-rows.ts";
import { inWords } from "./console/duration.ts";
import { Progress } from "./console/progress.ts";
import { isAnsweredYes } from "./console/question.ts";
import { columnsOf, say, type Input, type Output } from "./console/terminal.ts";
import { readExports } from "./exports/imported-row.ts";
import { CsvFileError } from "./exports/read-csv.ts";
import { consentSummary, contactTable, readContacts } from "./read-back.ts";
import { fileLines, invalidLines, sendLines, validLines } from "./report.ts";
import { callsFor, sendRows } from "./send-rows.ts";
import { openLive, openMock, type DemoService, type RetryListener } from "./service.ts";

/** What the demo gets from the process that it runs in. An abort of the signal is a Ctrl-C. */
export interface DemoSurroundings {
  readonly args: readonly string[];
  readonly input: Input;
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
}

const ownData = fileURLToPath(new URL("../data", import.meta.url));
// A real audience may hold millions: the demo reads so many of them back.
const readBackMax = 500;

/** The demo, from the command line to the exit code: 0 done, 1 not all done, 2 wrongly called, 130 stopped by Ctrl-C. */
export async function runDemo(around: DemoSurroundings): Promise<number> {
  try {
    const asked = readArguments(around.args);
    if (asked.mode === "help") {
      say(around.output, help);
      return 0;
    }
    return await tour(asked, around);
  } catch (error) {
    return explain(error, around);
  }
}

async function tour(
  asked: Exclude<DemoArguments, { mode: "help" }>,
  around: DemoSurroundings,
): Promise<number> {
  const { output, signal } = around;
  const startedMs = performance.now();
  const retries: Parameters<RetryListener>[0][] = [];
  const onRetry: RetryListener = (retry) => void retries.push(retry);
  const service = asked.mode === "live" ? openLive(asked.listId, onRetry) : await openMock(onRetry);
  try {
    if (asked.mode === "live") refuseWithoutTerminal(around);
    say(output, "", ...service.description, "");
    const checked = await readAndCheck(asked.folder ?? ownData, output);
    const calls = checked.valid.reduce((sum, row) => sum + callsFor(row), 1);
    if (asked.mode === "live" && !(await agreesToLive(service, checked, calls, around))) {
      say(output, "Nothing was sent.");
      return 0;
    }
    const isWhole = await send(service, checked, calls, around);
    sayRetries(retries, output);
    if (signal.aborted) return stopped(output);
    if (!isWhole) return 1;
    await showContacts(service, around);
    if (service.mock) await showBooks(service, service.mock, checked, around);
    say(output, `Done in ${inWords(performance.now() - startedMs)}.`);
    return 0;
  } finally {
    await service.close();
  }
}

function refuseWithoutTerminal({ input, output }: DemoSurroundings): void {
  if (input.isTTY && output.isTTY) return;
  throw new UsageError(
    "--live asks before it sends anything, and there is no terminal to ask on: nothing was sent.",
  );
}

async function readAndCheck(folder: string, output: Output): Promise<CheckedRows> {
  const files = await readExports(folder);
  say(output, "1  Read", ...indented(fileLines(files)), "");
  const checked = checkRows(files.flatMap((file) => file.rows));
  say(output, "2  Check: nothing is sent yet");
  say(
    output,
    `   ${checked.invalid.length} rows are not valid and are left out:`,
    ...indented(invalidLines(checked)),
  );
  say(output, `   ${checked.valid.length} rows are valid:`, ...indented(validLines(checked)), "");
  return checked;
}

async function agreesToLive(
  { audience, listId }: DemoService,
  { valid }: CheckedRows,
  calls: number,
  { input, output, signal }: DemoSurroundings,
): Promise<boolean> {
  say(
    output,
    `This will write to the service named above: upsert ${valid.length} contacts, add them to the list ${listId},`,
    `and send ${valid.length} events named contact_imported, which may trigger automations.`,
    `It takes ${calls} calls, about ${inWords(audience.rateLimiter.estimateMs(calls))} at the service's limits.`,
  );
  return await isAnsweredYes("Go on?", { input, output, signal });
}

async function send(
  { audience, listId }: DemoService,
  { valid }: CheckedRows,
  calls: number,
  { output, signal }: DemoSurroundings,
): Promise<boolean> {
  // Looked for first: adding to a list that does not exist may still create the contact.
  await audience.v1.contactGroups.get(listId, { signal });
  say(
    output,
    `3  Send: ${calls} calls, about ${inWords(audience.rateLimiter.estimateMs(calls))} by the limiter's estimate`,
  );
  const progress = new Progress({ output, total: valid.length, unit: "rows" });
  const onRowDone = () => progress.advance(`${audience.rateLimiter.usage().queued} calls wait`);
  const report = await sendRows(valid, { audience, listId, signal, onRowDone });
  progress.end();
  say(output, ...indented(sendLines(report)));
  return report.failed.length === 0 && report.notBegun === 0;
}

function sayRetries(retries: readonly Parameters<RetryListener>[0][], output: Output): void {
  const lines = retries.map(
    ({ operation, error }) => `Made again by itself: ${operation}, after ${error?.code ?? "a failure"}.`,
  );
  say(output, ...indented(lines), "");
}

async function showContacts({ audience }: DemoService, { output, signal }: DemoSurroundings): Promise<void> {
  const contacts = await readContacts(audience, { max: readBackMax, signal });
  const shown = contacts.slice(0, tableRows(output));
  say(
    output,
    `4  Read back: ${contacts.length} contacts${contacts.length === readBackMax ? ", as many as the demo reads" : ""}`,
  );
  say(output, ...indented(contactTable(shown, columnsOf(output) - 4)));
  if (shown.length < contacts.length) say(output, `   … and ${contacts.length - shown.length} more`);
  say(output, "", ...indented(consentSummary(contacts)), "");
}

// A terminal keeps the headings in sight; elsewhere a screenful is enough to see.
function tableRows({ isTTY, rows }: Output): number {
  return isTTY && rows !== undefined ? Math.max(5, rows - 12) : 24;
}

/** The mock shows what no client can ask the service: what was recorded, and that nothing is recorded twice. */
async function showBooks(
  { audience, listId }: DemoService,
  mock: NonNullable<DemoService["mock"]>,
  { valid }: CheckedRows,
  { output, signal }: DemoSurroundings,
): Promise<void> {
  const books = () => mock.organization("demo");
  const before = books();
  say(
    output,
    "5  The mock's own books",
    `   ${before.contacts.length} contacts, ${before.memberships.length} members of the list, ${before.events.length} events, ` +
      `${before.automationRuns.length} runs of automations`,
  );
  const again = valid.slice(0, 10);
  await sendRows(again, { audience, listId, signal, onRowDone: () => undefined });
  const after = books();
  say(
    output,
    `   ${again.length} rows sent once more: still ${after.contacts.length} contacts, ${after.memberships.length} members, ` +
      `${after.events.length} events, ${after.automationRuns.length} runs`,
    "",
  );
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `   ${line}`);
}

function stopped(output: Output): number {
  say(
    output,
    "Stopped. Running it again is safe: contacts are upserted, and an event that is recorded is not recorded again.",
  );
  return 130;
}

function explain(error: unknown, { errors, output, signal }: DemoSurroundings): number {
  if (error instanceof UsageError) {
    say(errors, error.message, "npm run demo -- --help shows what it can do.");
    return 2;
  }
  if (signal.aborted) return stopped(output);
  if (!(error instanceof CsvFileError) && !isAudienceError(error)) throw error;
  say(errors, `${error.name}: ${error.message}`);
  return 1;
}
