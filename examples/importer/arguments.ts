import { parseArgs } from "node:util";

/** What the command line asks for. */
export interface ImporterArguments {
  readonly files: readonly string[];
  readonly family: "v1" | "v2";
  readonly listId: string | undefined;
  readonly isDryRun: boolean;
  readonly isMock: boolean;
  readonly checkpoint: string | undefined;
  readonly reportFolder: string | undefined;
}

/** A command line that cannot be followed. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const help = `Usage: npx tsx examples/importer/main.ts FILE… [options]

Imports contacts from CSV files: Mailchimp's audience exports, Klaviyo's exports of lists and segments, and files
with plain headings (email, first_name, email_opt_in, …). Each contact is created or updated with the consent that
the files give, never with a better one: without a word of consent it is NON_SUBSCRIBED, and of two rows for one
person the stricter holds.

  --dry-run           check every row, say what is wrong and how long the import takes; send nothing
  --list ID           add each contact to this list
  --family v1|v2      which interface to write to; default v1. v2 wants a first name, and when, from where and how
                      consent was given (columns consent_created_at, consent_ip, consent_source), and has no
                      custom properties
  --resume CHECKPOINT keep track in this file, and go on from it where an import was stopped or killed
  --report FOLDER     write the rows that failed there: for each file one of the same name, with a column that says
                      why, and one of notes. Mend the rows and import the files; leave the notes as they are
  --mock              import into a mock service on this machine; nothing leaves it
  --help              this text

The service is named by AUDIENCE_BASE_URL and AUDIENCE_API_KEY; for v2 by AUDIENCE_BASE_URL_V2, AUDIENCE_APP_ID and
AUDIENCE_API_KEY_V2 (or AUDIENCE_API_KEY).
Exit code: 0 all imported, 1 some rows were not, 2 it could not begin, 130 stopped by Ctrl-C.`;

const known = {
  "dry-run": { type: "boolean" },
  list: { type: "string" },
  family: { type: "string" },
  resume: { type: "string" },
  report: { type: "string" },
  mock: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Reads the command line, or throws a `UsageError`. */
export function readArguments(args: readonly string[]): ImporterArguments | "help" {
  const { values, positionals: files } = parse(args);
  if (values.help) return "help";
  if (files.length === 0) throw new UsageError("Name at least one CSV file.");
  for (const name of ["list", "resume", "report"] as const) {
    if (values[name]?.trim() === "") throw new UsageError(`--${name} needs a value.`);
  }
  return {
    files,
    family: readFamily(values.family),
    listId: values.list,
    isDryRun: values["dry-run"] ?? false,
    isMock: values.mock ?? false,
    checkpoint: values.resume,
    reportFolder: values.report,
  };
}

function readFamily(family = "v1"): "v1" | "v2" {
  if (family === "v1" || family === "v2") return family;
  throw new UsageError(`--family is v1 or v2, not ${JSON.stringify(family)}.`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known, strict: true, allowPositionals: true });
  } catch (error) {
    // The first sentence names the option; what follows is about programs that take other arguments than this one.
    const [reason = "unknown option"] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw new UsageError(`${reason.replace(/\.$/, "")}.`, { cause: error });
  }
}
