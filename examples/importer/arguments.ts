import { parseArgs } from "node:util";
import type { ColumnChoice } from "../exports/column-choice.ts";
import { optIns, type OptIn } from "../exports/contact.ts";
import { isEncoding } from "../exports/csv-encoding.ts";

/** The parsed command line. */
export interface ImporterArguments {
  readonly files: readonly string[];
  readonly family: "v1" | "v2";
  readonly listId: string | undefined;
  /** The meaning of a missing consent. */
  readonly consent: OptIn | "keep" | undefined;
  readonly choice: ColumnChoice;
  readonly encoding: string | undefined;
  readonly isDryRun: boolean;
  readonly isMock: boolean;
  readonly checkpoint: string | undefined;
  readonly reportFolder: string | undefined;
}

/** An invalid command line. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const help = `Usage: npm run import -- FILE… [options]

Imports contacts from CSV files: exports of Mailchimp, Klaviyo, HubSpot and Brevo, and tables with plain headings
(email, first_name, zip, birthday, mobile, email_opt_in, status, …) in any case. Each contact is created or updated.
First it reads the files and prints its plan: what each column becomes, and whose consent the files give.

Nobody's consent becomes better than the strictest word in the files, over all columns, rows and files about the person.
"Not opted out" is no opt-in. A no in an opt-in column is read as an opt-out. Where the files say nothing of a channel,
the field is left out, and an existing contact keeps what it has. Nothing is sent where a file says nothing at all of
consent, or where a column looks like a consent and is not understood: say what is meant with --consent or --without.

  --dry-run           print the plan, check every row and say how long the import takes; send nothing
  --list ID           add each contact to this list. A row of whose e-mail consent nothing is known is not sent, as any
                      way of adding it could change that consent
  --consent WHAT      what is meant where the files say nothing: keep (an existing contact keeps what it has),
                      NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED. It speaks of the e-mail address, or of the telephone
                      number where a row has no address. It never replaces a word that was understood; where a word was
                      not, that row is sent with keep, NON_SUBSCRIBED or UNSUBSCRIBED, and never with SUBSCRIBED
  --without COLUMN    leave this column out (may be repeated, or a list with commas). What it refuses still counts
  --only COLUMN       send only these columns (may be repeated). The e-mail address and the consents always count
  --encoding NAME     how files without a byte-order mark are written: windows-1252 for those of Excel in Western Europe
                      and America; default utf-8. Commas, semicolons and tabs are told apart by themselves, UTF-16 too
  --family v1|v2      which interface to write to; default v1. v2 wants a first name, and when, from where and how
                      consent was given (columns consent_created_at, consent_ip, consent_source), and has no
                      custom properties
  --resume FILE       keep track in this file. A later run, of the same files or of newer ones, sends what is new or has
                      changed, and goes on where an import was stopped or killed
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
  consent: { type: "string" },
  without: { type: "string", multiple: true },
  only: { type: "string", multiple: true },
  encoding: { type: "string" },
  family: { type: "string" },
  resume: { type: "string" },
  report: { type: "string" },
  mock: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Parses the command line, or throws a `UsageError`. */
export function parseArguments(args: readonly string[]): ImporterArguments | "help" {
  const { values, positionals: files } = parse(args);
  if (values.help) return "help";
  if (files.length === 0) throw new UsageError("Name at least one CSV file.");
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) throw new UsageError(`${twice} is named twice.`);
  for (const name of ["list", "resume", "report", "encoding"] as const) {
    if (values[name]?.trim() === "") throw new UsageError(`--${name} needs a value.`);
  }
  const family = parseFamily(values.family);
  const consent = parseConsent(values.consent);
  refuseKeep({ consent, family, listId: values.list });
  const { encoding } = values;
  if (encoding !== undefined && !isEncoding(encoding)) {
    throw new UsageError(
      `--encoding ${JSON.stringify(encoding)} is not known; windows-1252 is one, utf-8 another.`,
    );
  }
  return {
    files,
    family,
    listId: values.list,
    consent,
    choice: {
      ...(values.only === undefined ? {} : { only: values.only }),
      ...(values.without === undefined ? {} : { without: values.without }),
    },
    encoding,
    isDryRun: values["dry-run"] ?? false,
    isMock: values.mock ?? false,
    checkpoint: values.resume,
    reportFolder: values.report,
  };
}

function parseFamily(family = "v1"): "v1" | "v2" {
  if (family === "v1" || family === "v2") return family;
  throw new UsageError(`--family is v1 or v2, not ${JSON.stringify(family)}.`);
}

function parseConsent(value: string | undefined): OptIn | "keep" | undefined {
  if (value === undefined) return undefined;
  const consent = ([...optIns, "keep"] as const).find((one) => one.toLowerCase() === value.toLowerCase());
  if (consent !== undefined) return consent;
  throw new UsageError(
    `--consent is keep, NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED, not ${JSON.stringify(value)}.`,
  );
}

function refuseKeep({
  consent,
  family,
  listId,
}: Pick<ImporterArguments, "consent" | "family" | "listId">): void {
  if (consent !== "keep") return;
  if (listId !== undefined) {
    throw new UsageError(
      "--consent keep cannot be combined with --list: a contact that is added to a list without its consent becomes " +
        "SUBSCRIBED, even if it had unsubscribed. Say a state, or leave --list out.",
    );
  }
  if (family === "v2")
    throw new UsageError("--consent keep cannot be combined with --family v2, which requires a status.");
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
