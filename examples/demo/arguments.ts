import { parseCommandLine, UsageError } from "../console/program.ts";

/** The parsed command line. */
export type DemoArguments =
  | { readonly mode: "help" }
  | { readonly mode: "mock"; readonly folder?: string }
  | { readonly mode: "live"; readonly listId: string; readonly folder?: string };

export const help = `Usage: npm run demo [-- options]

Reads the contacts in examples/data, says which rows are not valid and why, upserts the others with the consent
that the files give them, adds them to a list, sends an event for each, and prints what the service then holds.

Without options it runs on the embedded mock over real HTTP: nothing leaves this machine, whatever the environment holds.

  --live       run against the service that the AUDIENCE_* environment variables name, at the real rate limits.
               Says what it will do and asks first; without a terminal to ask on, it refuses.
  --list ID    the list that the contacts are added to (only with --live, and needed there)
  --data DIR   read the CSV files of another folder
  --help       this text

Environment of --live: AUDIENCE_BASE_URL, AUDIENCE_API_KEY.`;

const known = {
  live: { type: "boolean" },
  list: { type: "string" },
  data: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Parses the command line, or throws a `UsageError`. */
export function parseArguments(args: readonly string[]): DemoArguments {
  const { values } = parseCommandLine({ args: [...args], options: known });
  const { live = false, list, data, help: asksForHelp = false } = values;
  if (asksForHelp) return { mode: "help" };
  const folder = data === undefined ? {} : { folder: data };
  if (!live) {
    if (list !== undefined) throw new UsageError("--list is for --live only: the mock brings its own list.");
    return { mode: "mock", ...folder };
  }
  if (list === undefined || list.trim() === "")
    throw new UsageError("--live needs --list ID: the list to add the contacts to.");
  return { mode: "live", listId: list, ...folder };
}
