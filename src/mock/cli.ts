#!/usr/bin/env node
import { inspect } from "node:util";
import { HELP, startMessage } from "./cli-messages.ts";
import { readArguments } from "./command/arguments.ts";
import { writeEnvFile } from "./command/env-file.ts";
import { requestLine } from "./command/request-line.ts";
import { loadSeed } from "./command/seed-file.ts";
import { StateFile } from "./command/state-file.ts";
import { UsageError } from "./command/usage-error.ts";
import type { Mock } from "./handle-request.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import { createMock } from "./mock-service.ts";
import type { MockListener, MockListenOptions } from "./public-types.ts";
import { DEFAULT_ORGANIZATION } from "./state/seed.ts";

/** That of a terminal which is closed among them. */
const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function run(): Promise<void> {
  const { seedFile, stateFile, envFile, speed, isQuiet, wantsHelp, ...address } = readArguments();
  if (wantsHelp) return void process.stdout.write(HELP);
  const options = await loadSeed(seedFile);
  const mock = createFromSeed(options, seedFile, speed);
  const kept = stateFile === undefined ? undefined : new StateFile(stateFile, mock);
  await kept?.open();
  const listener = await listen(mock, address);
  const stopPrinting = isQuiet ? undefined : mock.log.onEnd((...ended) => print(requestLine(...ended)));
  const stop = () => {
    kept?.close();
    stopPrinting?.();
    // It ends the webhook calls and the requests that are under way.
    mock.service.reset();
    void listener.close();
  };
  const client = { ...listener.clientOptions, speed };
  for (const signal of STOPPING) process.once(signal, stop);
  try {
    if (envFile !== undefined && writeEnvFile(envFile, client))
      process.stderr.write(
        `${envFile} held variables of another service: they stand there as comments now.\n`,
      );
  } catch (error) {
    stop();
    throw error;
  }
  const { organizations = [DEFAULT_ORGANIZATION] } = options;
  const message = startMessage(client, organizations);
  print(isQuiet ? message.slice(0, message.indexOf("\n")) : message.trimEnd());
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Errors of the seed are shown without a stack. */
function createFromSeed(
  options: MockServiceOptions,
  seedFile: string | undefined,
  speed: number | undefined,
): Mock {
  try {
    return createMock(options, speed);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`--seed ${seedFile}: ${error.message}`) : error;
  }
}

/** Errors of the port and the address are shown without a stack. */
async function listen(mock: Mock, address: MockListenOptions): Promise<MockListener> {
  const { port, host } = address;
  try {
    return await mock.service.listen(address);
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

// Nobody reads on, as after `| head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (!process.emit("SIGTERM")) process.exit();
});

run().catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${isUsage ? `${error.message}\nSee audience-mock --help` : inspect(error)}\n`);
  process.exitCode = 1;
});
