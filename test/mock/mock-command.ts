import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import type { MockOrganizationState } from "audience-sdk/mock";
import { afterAll, afterEach, beforeAll } from "vitest";
import { bundleProgram } from "../bundle-program.ts";

export interface Served {
  url: string;
  /** What it has printed so far. */
  output: () => string;
  /** Waits until it has printed the text. */
  printed: (text: string) => Promise<string>;
  errors: () => string;
}

/** One in a process of its own, for what needs a signal. */
export interface ServedByProcess extends Served {
  child: ChildProcess;
}

/** The headers of a call to its default organization. */
export const KEY = { "x-api-key": "mock-api-key-not-a-secret", "content-type": "application/json" };

export const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, { method: "POST", headers: KEY, body: JSON.stringify(body) });

export async function stateOf(url: string): Promise<MockOrganizationState> {
  const response = await fetch(`${url}/__mock/organizations/mock-organization`);
  // Safe: the mock tells its state so.
  return (await response.json()) as MockOrganizationState;
}

/** Ends it with a signal. Its exit code. */
export function stop({ child }: Pick<ServedByProcess, "child">, signal: NodeJS.Signals = "SIGTERM") {
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  child.kill(signal);
  return ended;
}

/** The command `audience-mock`, in a folder of its own. A thread is as good as a process, and starts in a fifth of the time. */
export class MockCommand {
  readonly folder = mkdtempSync(join(tmpdir(), "audience-mock-"));
  readonly #processes: ChildProcess[] = [];
  readonly #threads: Worker[] = [];
  #files = 0;

  /** For the tests of a file or block. */
  constructor() {
    beforeAll(() => bundleProgram("src/mock/cli.ts", join(this.folder, "cli.mjs")));
    afterEach(() => this.#end());
    afterAll(() => rm(this.folder, { recursive: true }));
  }

  #start(args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [join(this.folder, "cli.mjs"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#processes.push(child);
    return child;
  }

  #startThread(args: readonly string[]): Worker {
    const thread = new Worker(join(this.folder, "cli.mjs"), { argv: [...args], stdout: true, stderr: true });
    this.#threads.push(thread);
    return thread;
  }

  /** Runs the command until it exits. */
  async run(...args: string[]) {
    const thread = this.#startThread(args);
    const [output, errors, code] = await Promise.all([
      text(thread.stdout),
      text(thread.stderr),
      new Promise<number>((resolve) => thread.once("exit", resolve)),
    ]);
    return { code, output, errors };
  }

  /** Starts the server on a free port, and waits for the last line of its start message. */
  async serve(...args: string[]): Promise<Served> {
    const thread = this.#startThread(["--port", "0", ...args]);
    return await served(thread.stdout, thread.stderr, args);
  }

  /** The same, in a process of its own. */
  async serveByProcess(...args: string[]): Promise<ServedByProcess> {
    const child = this.#start(["--port", "0", ...args]);
    return { child, ...(await served(child.stdout!, child.stderr!, args)) };
  }

  /** Writes a file of this name, each time in another place. */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    const file = this.path(name);
    await writeFile(file, content);
    return file;
  }

  /** The path of a file that does not exist yet. */
  path(name: string): string {
    this.#files += 1;
    return join(this.folder, `${this.#files}-${name}`);
  }

  /** Ends all that it has started. */
  async #end(): Promise<void> {
    for (const child of this.#processes.splice(0)) child.kill("SIGKILL");
    await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
  }
}

async function served(stdout: Readable, stderr: Readable, args: readonly string[]): Promise<Served> {
  let [output, errors, hasEnded] = ["", "", false];
  const listeners = new Set<() => void>();
  const hear = () => {
    for (const listener of listeners) listener();
  };
  stdout.on("data", (chunk) => {
    output += String(chunk);
    hear();
  });
  stderr.on("data", (chunk) => (errors += String(chunk)));
  stdout.once("close", () => {
    hasEnded = true;
    hear();
  });
  const printed = (words: string) =>
    new Promise<string>((resolve, reject) => {
      const look = (): void => {
        if (output.includes(words)) resolve(output);
        else if (hasEnded) reject(new Error(`it ended before "${words}": ${output}${errors}`));
      };
      listeners.add(look);
      look();
    });
  await printed(args.includes("--quiet") ? "listens on" : "Ctrl-C");
  const url = /listens on (\S+)/.exec(output)?.[1] ?? "";
  return { url, output: () => output, printed, errors: () => errors };
}
