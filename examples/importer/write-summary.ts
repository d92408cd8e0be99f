import { basename } from "node:path";
import { replaceFile } from "../../src/files/replacement.ts";
import { inFull } from "../console/counted.ts";
import { printable } from "../console/text-width.ts";
import { type Channel, optIns } from "../exports/contact.ts";
import type { FailedRows } from "./failed-rows.ts";
import type { SettledRow } from "./settled-rows.ts";
import type { Survey } from "./survey.ts";

/** Counts what an import did, for a page of Markdown. */
export class Summary {
  readonly #counts = { imported: 0, before: 0, failed: 0 };
  readonly #consents: Record<Channel, Map<string, number>> = { email: new Map(), phone: new Map() };

  add(settled: SettledRow, outcome: "imported" | "before" | "failed"): void {
    this.#counts[outcome] += 1;
    if (outcome !== "imported" && outcome !== "before") return;
    const { email, phone, email_opt_in, phone_opt_in } = settled.contact;
    if (email !== undefined) increment(this.#consents.email, email_opt_in ?? "unstated");
    if (phone !== undefined) increment(this.#consents.phone, phone_opt_in ?? "unstated");
  }

  /** Writes the page. It holds numbers and headings, and no person. */
  async write(
    path: string,
    { survey, target, failed }: { survey: Survey; target: string; failed: FailedRows },
  ): Promise<void> {
    const { imported, before, failed: notImported } = this.#counts;
    const lines = [
      "# Import of contacts",
      "",
      `${survey.files.map(({ plan }) => basename(plan.file.path)).join(", ")} into ${target}`,
      "",
      "| rows | |",
      "| --- | ---: |",
      `| imported | ${inFull(imported)} |`,
      `| imported before | ${inFull(before)} |`,
      `| not imported | ${inFull(notImported)} |`,
      `| people in the files | ${inFull(survey.people.size)} |`,
      "",
      "| consent | e-mail | phone |",
      "| --- | ---: | ---: |",
      ...[...optIns, "unstated"].map(
        (state) =>
          `| ${state} | ${inFull(this.#consents.email.get(state) ?? 0)} | ${inFull(this.#consents.phone.get(state) ?? 0)} |`,
      ),
      "",
      "## Custom properties",
      "",
      ...propertiesOf(survey),
      ...(failed.count === 0
        ? []
        : ["", "## Not imported", "", ...failed.titles().map((line) => `- ${line}`)]),
    ];
    replaceFile(path, [`${lines.join("\n")}\n`], { keepsMode: true });
  }
}

function propertiesOf({ files }: Survey): string[] {
  const lines = files.flatMap(({ plan }) =>
    plan.columns.flatMap(({ use, heading, property }) =>
      use.kind === "property"
        ? [`- ${cellOf(heading)} of ${cellOf(basename(plan.file.path))}: \`${property}\``]
        : [],
    ),
  );
  return lines.length === 0 ? ["None."] : lines;
}

// A heading is the user's text, and no Markdown.
const cellOf = (text: string) => printable(text).replace(/[\\`*_{}[\]<>|#]/g, String.raw`\$&`);

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
