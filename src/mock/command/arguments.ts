import { parseArgs } from "node:util";
import { isHost } from "../doors.ts";
import { UsageError } from "./usage-error.ts";

const DEFAULT_PORT = 4010;

export interface Arguments {
  port: number;
  host: string;
  allowHosts: string[];
  seedFile: string | undefined;
  stateFile: string | undefined;
  envFile: string | undefined;
  speed: number | undefined;
  isQuiet: boolean;
  wantsHelp: boolean;
}

const options = {
  port: { type: "string" },
  host: { type: "string" },
  "allow-host": { type: "string", multiple: true },
  seed: { type: "string" },
  state: { type: "string" },
  env: { type: "string" },
  speed: { type: "string" },
  quiet: { type: "boolean", short: "q" },
  help: { type: "boolean", short: "h" },
} as const;

/** The command line. A mistake is a `UsageError`. */
export function readArguments(): Arguments {
  const values = parse();
  const { host = "127.0.0.1", "allow-host": allowHosts = [], seed, state, env } = values;
  const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
  if (!/^\d+$/.test(values.port ?? "0") || port > 65_535)
    throw new UsageError(`--port must be an integer from 0 (any free port) to 65535, not "${values.port}"`);
  if (host === "") throw new UsageError("--host must be an address, such as 0.0.0.0 for all");
  const speed = values.speed === undefined ? undefined : Number(values.speed);
  // With more, the shortest documented window would be below a millisecond.
  if (!/^\d+$/.test(values.speed ?? "2") || (speed !== undefined && (speed < 2 || speed > 1_000)))
    throw new UsageError(`--speed must be an integer from 2 to 1000, not "${values.speed}"`);
  for (const name of allowHosts) {
    if (!isHost(name))
      throw new UsageError(
        `--allow-host must be a host, such as mock.test or [fd00::1], without a scheme and a path, not "${name}"`,
      );
  }
  for (const [name, file] of Object.entries({ seed, state, env }))
    if (file === "") throw new UsageError(`--${name} must be the path of a file`);
  const files = { seedFile: seed, stateFile: state, envFile: env };
  return {
    port,
    host,
    allowHosts,
    ...files,
    speed,
    isQuiet: values.quiet ?? false,
    wantsHelp: values.help ?? false,
  };
}

function parse() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node takes -1 for another option.
    const isDash = error.message.startsWith("Option '--port' argument is ambiguous");
    throw new UsageError(isDash ? "--port must be an integer from 0" : error.message);
  }
}
