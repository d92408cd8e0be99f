import { InputError, parseCommandLine } from "../console/program.ts";
import { optIns } from "../exports/contact.ts";
import { isEncoding } from "../exports/csv-format.ts";

export type ImporterArguments = Exclude<ReturnType<typeof parseArguments>, "help">;

export const help = `Usage: npm run import -- FILE… [options]
Without the "--", npm keeps the options for itself.

Imports contacts from CSV files: exports of Mailchimp, Klaviyo, HubSpot, Brevo and others, and any other table.
It asks, once, and never guesses a consent. What each column becomes stands in a map beside the file, FILE.map.json: a
terminal asks you; elsewhere you replace each "?" in it. The guide tells more: examples/guides/importer.md.

  --dry-run           print the plan, check every row and estimate the duration of the import; send nothing
  --map FILE          the map of the files, instead of FILE.map.json beside each
  --yes               do not ask whether to import
  --list ID           add each contact to this list. A row without an e-mail consent is not sent, but for its opt-out of
                      phone messages: adding it to the list could change the contact's consent
  --consent STATE     the consent of rows without one: keep (an existing contact keeps its consent), NON_SUBSCRIBED,
                      UNSUBSCRIBED or SUBSCRIBED. It applies to the e-mail address, or to the telephone number of a row
                      without an address. It replaces no word, and SUBSCRIBED answers none that the map does not name
  --encoding NAME     the encoding of files that are not UTF-8 or UTF-16: windows-1252 for those of Excel in Western
                      Europe and America
  --resume FILE       record the progress in this file. A later run, of the same files or of newer ones, sends new and
                      changed rows, and continues one that was stopped. It belongs to one organization of one service
  --organization NAME a name of your own for that organization, which survives a new key
  --snapshot FILE     a snapshot of the service, of less than a day ago: \`npm run export -- FILE.ndjson\` writes one.
                      Who has refused there keeps the refusal, whatever the files say; the last lines tell how many
  --report FOLDER     write the rows that were not imported to this folder: one file for each file, with the same name and
                      map, and a column for the reason. Correct the rows, and import the files together, with the same
                      options. The file ….refused.json beside each holds who has refused, as hashes: leave it there
  --reserve SHARE     the share of the rate limit to leave to other calls, from 0 (none) to 0.9; default 0.1
  --mock              import into a mock service on this machine; nothing leaves it
  --help              show this text

Configure the service with AUDIENCE_BASE_URL and AUDIENCE_API_KEY.
Exit code: 0 all imported, 1 some rows were not, 2 it could not start: nothing was imported, 130 stopped by Ctrl-C.`;

const known = {
  "dry-run": { type: "boolean" },
  list: { type: "string" },
  consent: { type: "string" },
  map: { type: "string" },
  yes: { type: "boolean", short: "y" },
  snapshot: { type: "string" },
  reserve: { type: "string" },
  encoding: { type: "string" },
  resume: { type: "string" },
  organization: { type: "string" },
  report: { type: "string" },
  mock: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Parses the command line, or throws an `InputError`. */
export function parseArguments(args: readonly string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    options: known,
    allowPositionals: true,
  });
  // `exports/*` names what stands beside the tables, too.
  const isBeside = (path: string) =>
    positionals.some((other) => path === `${other}.map.json` || path === `${other}.refused.json`);
  const files = positionals.filter((path) => !isBeside(path));
  if (values.help) return "help" as const;
  refuseKeptByNpm(values, env);
  if (files.length === 0) throw new InputError("Name at least one CSV file.");
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) throw new InputError(`${twice} is named twice.`);
  for (const [name, value] of Object.entries(values))
    if (typeof value === "string" && value.trim() === "") throw new InputError(`--${name} needs a value.`);
  const consent = valueOf(
    ["consent", values.consent],
    "keep, NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED",
    (text) => ([...optIns, "keep"] as const).find((one) => one.toLowerCase() === text.toLowerCase()),
  );
  if (consent === "keep" && values.list !== undefined)
    throw new InputError(
      "--consent keep cannot be combined with --list: a contact that is added to a list without its consent becomes " +
        "SUBSCRIBED, even if it had unsubscribed. Choose another state, or leave --list out.",
    );
  return {
    files,
    listId: values.list,
    /** The consent of rows without one. */
    consent,
    /** The one map of all files; undefined for a map beside each. */
    map: values.map,
    isConfirmed: values.yes ?? false,
    snapshot: values.snapshot,
    reserve: valueOf(["reserve", values.reserve], "a share from 0 to 0.9", (text) =>
      Number(text) >= 0 && Number(text) <= 0.9 ? Number(text) : undefined,
    ),
    encoding: valueOf(["encoding", values.encoding], "one that is known, as windows-1252 or utf-8", (text) =>
      isEncoding(text) ? text : undefined,
    ),
    isDryRun: values["dry-run"] ?? false,
    isMock: values.mock ?? false,
    checkpoint: values.resume,
    organization: values.organization,
    reportFolder: values.report,
  };
}

// What stands before "--" npm takes for itself, and tells it only in the environment.
function refuseKeptByNpm(values: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv): void {
  for (const [name, { type }] of Object.entries(known)) {
    const variable = `npm_config_${name.replaceAll("-", "_")}`;
    const isKept = env[variable] !== undefined && env[variable] !== "false";
    // npx sets "yes" for its own; without it the importer only asks.
    if (!isKept || name === "yes" || values[name] !== undefined) continue;
    throw new InputError(
      `npm kept --${name} for itself (${variable} is set): write \`npm run import -- FILE… --${name}${type === "boolean" ? "" : " …"}\`.`,
    );
  }
}

/** The value of an option, or an `InputError` that says what it may be. */
function valueOf<Value>(
  [name, text]: readonly [name: string, text: string | undefined],
  what: string,
  read: (text: string) => Value | undefined,
): Value | undefined {
  const value = text === undefined ? undefined : read(text);
  if (text === undefined || value !== undefined) return value;
  throw new InputError(`--${name} is ${what}, not ${JSON.stringify(text)}.`);
}
