#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { inspect, parseArgs } from "node:util";
import { HELP, startMessage } from "./cli-messages.ts";
import { isHost } from "./doors.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import { createMockService } from "./mock-service.ts";
import type { MockListener, MockListenOptions, MockService } from "./public-types.ts";
import { DEFAULT_ORGANIZATION } from "./state/seed.ts";

const DEFAULT_PORT = 4010;
const SEED_KEYS = ["organizations", "rateLimits", "faults", "latencyMs", "seed", "variants", "webhooks"];

/** An error in the command line. Only its message is printed. */
class UsageError extends Error {}

interface Arguments {
  port: number;
  host: string;
  allowHosts: string[];
  seedFile: string | undefined;
  wantsHelp: boolean;
}

function readArguments(): Arguments {
  const options = {
    port: { type: "string" },
    host: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    seed: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const { host = "127.0.0.1", "allow-host": allowHosts = [] } = values;
    const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535 || values.port === "") {
      throw new UsageError(`--port must be an integer from 0 (any free port) to 65535, not "${values.port}"`);
    }
    if (host === "") throw new UsageError("--host must be an address, such as 0.0.0.0 for all");
    for (const name of allowHosts) {
      if (!isHost(name))
        throw new UsageError(
          `--allow-host must be a host, such as mock.test or [fd00::1], without a scheme and a path, not "${name}"`,
        );
    }
    return { port, host, allowHosts, seedFile: values.seed, wantsHelp: values.help ?? false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node takes -1 for another option.
    const isDash = error.message.startsWith("Option '--port' argument is ambiguous");
    throw new UsageError(isDash ? "--port must be an integer from 0" : error.message);
  }
}

/** Loads the options of `createMockService` that JSON can hold, or an array of organizations. */
async function loadSeed(file: string | undefined): Promise<MockServiceOptions> {
  if (file === undefined) return {};
  let content: unknown;
  try {
    const message = await readFile(file, "utf8");
    // Notepad and PowerShell write a byte order mark, which JSON does not permit.
    content = JSON.parse(message.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof content !== "object" || content === null)
    throw new UsageError(`--seed ${file}: must hold an object or an array`);
  const seed = Array.isArray(content) ? { organizations: content } : content;
  const unknown = Object.keys(seed).find((key) => !SEED_KEYS.includes(key));
  if (unknown !== undefined)
    throw new UsageError(`--seed ${file}: "${unknown}" is none of ${SEED_KEYS.join(", ")}`);
  return seed;
}

async function run(): Promise<void> {
  const { seedFile, wantsHelp, ...address } = readArguments();
  if (wantsHelp) return void process.stdout.write(HELP);
  const options = await loadSeed(seedFile);
  const mock = createMock(options, seedFile);
  const listener = await listen(mock, address);
  const stop = () => {
    // It ends the webhook calls that are under way.
    mock.reset();
    void listener.close();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  process.stdout.write(startMessage(listener.clientOptions, options.organizations ?? [DEFAULT_ORGANIZATION]));
}

/** Errors of the seed are shown without a stack. */
function createMock(options: MockServiceOptions, seedFile: string | undefined): MockService {
  try {
    return createMockService(options);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`--seed ${seedFile}: ${error.message}`) : error;
  }
}

/** Errors of the port and the address are shown without a stack. */
async function listen(mock: MockService, address: MockListenOptions): Promise<MockListener> {
  const { port, host } = address;
  try {
    return await mock.listen(address);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    const isInUse = error.code === "EADDRINUSE";
    throw new UsageError(
      isInUse
        ? `port ${port} is in use; choose another with --port, or --port 0 for any free one`
        : `cannot listen with --port ${port} --host ${host}: ${error.message}`,
    );
  }
}

run().catch((error: unknown) => {
  const message =
    error instanceof UsageError
      ? `${error.message}
See audience-mock --help`
      : inspect(error);
  process.stderr.write(`${message}
`);
  process.exitCode = 1;
});
