import { InputError, parseCommandLine } from "../console/program.ts";

/** The parsed command line. */
export interface ExportArguments {
  readonly isHelp: boolean;
  /** The file to write; its ending is that of its format. Empty with `isHelp`. */
  readonly file: string;
  readonly format: "csv" | "ndjson";
  readonly hasAllFields: boolean;
  readonly isMock: boolean;
  readonly reserve: number | undefined;
  readonly organization: string | undefined;
}

export const help = `Usage: npm run export -- FILE.csv [options]
       npm run export -- FILE.ndjson [options]

Reads every contact of the account, 100 a call and within the rate limits, and writes a table of them (.csv) or a
snapshot (.ndjson), with one line for each. After Ctrl-C or a crash, the same command goes on where it was.

  --all                 write every attribute: names, addresses, custom properties. Without it: id, e-mail, phone,
                        consents, suppression, and the time of the last change
  --organization NAME   a name of your own for the organization, which survives a rotation of keys
  --reserve SHARE       the share of the rate limits that is left to other calls, 0 to 0.9; default 0.1
  --mock                export a mock on this machine; nothing leaves it
  --help                show this text

In a .csv, a ' stands before a =, +, - or @ that begins a cell, or what a spreadsheet with another list separator takes
for one, as it would run it: so phone numbers read '+44….

Environment: AUDIENCE_BASE_URL, AUDIENCE_API_KEY.
Exit code: 0 written, 1 not written, 2 an option or a file cannot be used, 130 stopped by Ctrl-C.`;

/** Parses the command line, or throws an `InputError`. */
export function parseArguments(args: readonly string[]): ExportArguments {
  const options = {
    all: { type: "boolean" },
    organization: { type: "string" },
    reserve: { type: "string" },
    mock: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values, positionals } = parseCommandLine({ args: [...args], options, allowPositionals: true });
  const { all = false, mock = false, help: isHelp = false, reserve, organization } = values;
  const [file = "", ...others] = positionals;
  const format = /\.(csv|ndjson)$/i.exec(file)?.[1]?.toLowerCase();
  const share = reserve === undefined ? undefined : Number(reserve);
  if (!isHelp && (format === undefined || others.length > 0))
    throw new InputError("Name one file, whose name ends with .csv or .ndjson.");
  if (share !== undefined && !(share >= 0 && share <= 0.9))
    throw new InputError("--reserve needs a number from 0 to 0.9.");
  return {
    isHelp,
    file,
    format: format === "ndjson" ? "ndjson" : "csv",
    hasAllFields: all,
    isMock: mock,
    reserve: share,
    organization,
  };
}
