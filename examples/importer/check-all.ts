import type { AudienceClient } from "audience-sdk";
import type { Snapshot } from "audience-sdk/snapshot";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { say, type Output } from "../console/terminal.ts";
import type { ImporterArguments } from "./arguments.ts";
import { type FailedRows, stopsAnother } from "./failed-rows.ts";
import type { ReadingLine } from "./reading-line.ts";
import { Remarks } from "./remarks.ts";
import { reasonIn, settledRows } from "./settled-rows.ts";
import type { Survey } from "./survey.ts";
import type { Target } from "./target.ts";

/** Checks each row as it would be sent, and prints the result of the plan. Returns how many can be sent. Sends nothing. */
export async function checkAll(
  survey: Survey,
  {
    target,
    options,
    audience,
    snapshot,
    failed,
    line,
    output,
    signal,
  }: {
    target: Target;
    options: ImporterArguments;
    audience: AudienceClient;
    snapshot: Snapshot | undefined;
    failed: FailedRows | undefined;
    line: ReadingLine;
    output: Output;
    signal: AbortSignal;
  },
): Promise<number> {
  const remarks = new Remarks();
  let checked = 0;
  let valid = 0;
  let unstated = 0;
  line.begin("Checking each row");
  for await (const settled of settledRows(survey, target, options, snapshot)) {
    signal.throwIfAborted();
    line.show(++checked);
    const { contact, issues, remarks: rowRemarks, row } = settled;
    for (const remark of rowRemarks) remarks.add(remark, row);
    if (issues.length > 0) {
      await failed?.add(settled, reasonIn(settled));
      continue;
    }
    if (settled.stopsSomebody) await failed?.keep(settled, stopsAnother);
    valid += 1;
    const isEmailUnstated = contact.email !== undefined && contact.email_opt_in === undefined;
    const isPhoneUnstated = contact.phone !== undefined && contact.phone_opt_in === undefined;
    if (isEmailUnstated || isPhoneUnstated) unstated += 1;
  }
  line.end();
  say(
    output,
    `Over all files: ${counted(survey.people.size, "person", "people")} in ${counted(survey.rows, "row")}.`,
  );
  say(output, ...remarks.lines().map((remark) => `  ${remark}`));
  if (unstated > 0) {
    say(
      output,
      `  ${counted(unstated, "row leaves", "rows leave")} out a consent that the files do not have: a new contact becomes NON_SUBSCRIBED, and`,
      "  an existing one should keep its consent. This relies on undocumented behaviour of the service.",
    );
  }
  const estimateMs = audience.rateLimiter?.estimateMs(valid, { priority: 9 }) ?? 0;
  say(
    output,
    `${inFull(valid)} of ${counted(survey.rows, "row")} can be imported in ${formatEstimate(estimateMs)}.`,
  );
  return valid;
}

function formatEstimate(durationMs: number): string {
  return durationMs < 1_000 ? "less than a second" : `about ${formatDuration(durationMs)}`;
}
