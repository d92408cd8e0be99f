import { parseArgs } from "node:util";
import { UsageError } from "../console/program.ts";

/** The parsed command line. */
export interface ProbeArguments {
  readonly isHelp: boolean;
  readonly isMock: boolean;
  /** The address to write to. Without one, nothing is written. */
  readonly write: string | undefined;
}

export const help = `Usage: npm run probe [-- options]

Asks an account what the service's document leaves open, in at most ten GETs and within the rate limits. Prints what it
saw, the \`variants\` that make the mock like this account, and the client options that fit. It prints no contact.

  --write ADDRESS  also write: three upserts of the contact with this e-mail address, and the event audience_sdk_probe
                   for it. The contact is UNSUBSCRIBED in the end, and stays in the account with the event. Give an
                   address of your own that is no contact yet, such as you+probe@your.example
  --mock           ask a mock on this machine; nothing leaves it
  --help           show this text

Environment: AUDIENCE_BASE_URL, AUDIENCE_API_KEY; for v2 AUDIENCE_BASE_URL_V2, AUDIENCE_APP_ID, AUDIENCE_API_KEY_V2.
Exit code: 0 all asked, 1 a question was not answered, 2 it could not start, 130 stopped by Ctrl-C.`;

/** Parses the command line, or throws a `UsageError`. */
export function parseArguments(args: readonly string[]): ProbeArguments {
  const options = {
    write: { type: "string" },
    mock: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options, allowPositionals: false }));
  } catch (error) {
    // An argument may be an address: only the name of an option is shown.
    const name = /--[\w-]+/.exec(String(error))?.[0];
    throw new UsageError(
      name ? `The option ${name} is unknown, or its value is.` : "There are no arguments but options.",
    );
  }
  const { write, mock = false, help: isHelp = false } = values;
  if (write !== undefined && !/^[^\s@]+@[^\s@]+$/.test(write))
    throw new UsageError("--write needs an e-mail address of your own.");
  return { isHelp, isMock: mock, write };
}
