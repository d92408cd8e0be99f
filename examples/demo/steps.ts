import { counted } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import type { ProgramSurroundings } from "../console/program.ts";
import { Progress } from "../console/progress.ts";
import { confirm } from "../console/question.ts";
import { columnsOf, say, styled, type Output } from "../console/terminal.ts";
import { consentSummary, contactTable, readContacts } from "./read-back.ts";
import { type CheckedRows, readExports } from "./read-exports.ts";
import { fileLines, invalidLines, sendLines, validLines } from "./report.ts";
import { sendRows } from "./send-rows.ts";
import type { DemoService, Retry } from "./service.ts";

// The demo reads at most this many contacts back: a real audience may hold millions.
const readBackMax = 500;

/** Steps 1 and 2: reads the files and checks the rows. */
export async function readAndCheck(
  folder: string,
  { output, signal }: ProgramSurroundings,
): Promise<CheckedRows> {
  const { files, checked } = await readExports(folder, signal);
  say(output, heading("1  Read", output), ...indented(fileLines(files)), "");
  say(
    output,
    heading("2  Check: nothing is sent yet", output),
    styled(output, "green", `   ${checked.valid.length} rows are valid:`),
    ...indented(validLines(checked)),
    styled(output, "yellow", `   ${checked.invalid.length} rows are not valid and are left out:`),
    ...indented(invalidLines(checked)),
    "",
  );
  return checked;
}

/** Describes a live run, and asks for confirmation. */
export async function agreesToLive(
  { rateLimiter, listId }: DemoService,
  { valid }: CheckedRows,
  calls: number,
  { input, output, signal }: ProgramSurroundings,
): Promise<boolean> {
  say(
    output,
    `This will write to the service named above: upsert ${valid.length} contacts, add them to the list ${listId},`,
    `and send ${valid.length} events named contact_imported, which may trigger automations.`,
    "It looks nobody up: an opt-in of the files goes over an unsubscription at the service.",
    `It takes ${calls} calls, about ${formatDuration(rateLimiter.estimateMs(calls))} at the service's limits,`,
    `and a few more to read at most ${readBackMax} contacts back.`,
  );
  return await confirm("Go on?", { input, output, signal });
}

/** Step 3: sends the rows. Returns whether all were sent. */
export async function send(
  { audience, rateLimiter, listId }: DemoService,
  { valid }: CheckedRows,
  calls: number,
  { output, signal }: ProgramSurroundings,
): Promise<boolean> {
  // Checked first: adding to a missing list may still create the contact.
  await audience.v1.contactGroups.get(listId, { signal });
  const estimate = formatDuration(rateLimiter.estimateMs(calls));
  say(output, heading(`3  Send: ${calls} calls, about ${estimate} by the limiter's estimate`, output));
  const progress = new Progress({ output, total: valid.length, unit: "rows" });
  const onRowDone = () => progress.advance(`${counted(rateLimiter.usage().queued, "call")} waiting`);
  const report = await sendRows(valid, { audience, listId, signal, onRowDone });
  progress.end();
  const [sent = "", ...unsent] = indented(sendLines(report));
  say(output, styled(output, "green", sent), ...unsent.map((line) => styled(output, "red", line)));
  return report.sent.length === valid.length;
}

/** Prints the calls that the client retried. */
export function printRetries(retries: readonly Retry[], output: Output): void {
  const lines = retries.map(
    ({ operation, error }) => `Retried: ${operation}, after ${error?.code ?? "a failure"}.`,
  );
  say(output, ...indented(lines), "");
}

/** Step 4: shows the contacts in the service. */
export async function showContacts(
  { audience }: DemoService,
  { output, signal }: ProgramSurroundings,
): Promise<void> {
  const contacts = await readContacts(audience, { max: readBackMax, signal });
  const shown = contacts.slice(0, tableRows(output));
  const limit = contacts.length === readBackMax ? ", as many as the demo reads" : "";
  say(output, heading(`4  Read back: ${contacts.length} contacts${limit}`, output));
  say(output, ...indented(contactTable(shown, columnsOf(output) - 4)));
  if (shown.length < contacts.length) say(output, `   … and ${contacts.length - shown.length} more`);
  say(output, "", ...indented(consentSummary(contacts)), "");
}

// On a terminal the headings stay visible.
function tableRows({ isTTY, rows }: Output): number {
  return isTTY && rows !== undefined ? Math.max(5, rows - 12) : 24;
}

/** Step 5: shows the mock's state, and that nothing is recorded twice. */
export async function showState(
  { audience, listId }: DemoService,
  mock: NonNullable<DemoService["mock"]>,
  { valid }: CheckedRows,
  { output, signal }: ProgramSurroundings,
): Promise<void> {
  const state = () => mock.organization("demo");
  const before = state();
  say(
    output,
    heading("5  The mock's state", output),
    `   ${before.contacts.length} contacts, ${before.memberships.length} members of the list, ${before.events.length} events, ` +
      `${before.automationRuns.length} runs of automations`,
  );
  const again = valid.slice(0, 10);
  const { sent } = await sendRows(again, { audience, listId, signal, onRowDone: () => undefined });
  const after = state();
  say(
    output,
    `   ${sent.length} rows sent once more: now ${after.contacts.length} contacts, ${after.memberships.length} members, ` +
      `${after.events.length} events, ${after.automationRuns.length} runs`,
    "",
  );
}

function heading(text: string, output: Output): string {
  return styled(output, "bold", text);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `   ${line}`);
}
