import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleProgram } from "../bundle-program.ts";

export interface Served {
  child: ChildProcess;
  url: string;
  /** What it has printed so far. */
  output: () => string;
  /** Waits until it has printed the text. */
  printed: (text: string) => Promise<string>;
  errors: () => string;
}

export function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}

/** The command `audience-mock` as a child process, in a folder of its own. */
export class MockCommand {
  readonly folder: string;
  readonly #started: ChildProcess[] = [];
  #files = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async bundle(): Promise<MockCommand> {
    const folder = await mkdtemp(join(tmpdir(), "audience-mock-"));
    await bundleProgram("src/mock/cli.ts", join(folder, "cli.mjs"));
    return new MockCommand(folder);
  }

  start(nodeArgs: readonly string[], args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [...nodeArgs, join(this.folder, "cli.mjs"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#started.push(child);
    return child;
  }

  /** Runs the command until it exits. */
  async run(...args: string[]) {
    const child = this.start([], args);
    let output = "";
    let errors = "";
    child.stdout?.on("data", (text) => (output += String(text)));
    child.stderr?.on("data", (text) => (errors += String(text)));
    return { code: await exitCodeOf(child), output, errors };
  }

  /** Starts the server on a free port, and waits for the last line of its start message. */
  async serve(...args: string[]): Promise<Served> {
    const child = this.start([], ["--port", "0", ...args]);
    let [output, errors] = ["", ""];
    const listeners = new Set<() => void>();
    const hear = () => {
      for (const listener of listeners) listener();
    };
    child.stdout?.on("data", (text) => {
      output += String(text);
      hear();
    });
    child.stderr?.on("data", (text) => (errors += String(text)));
    child.once("close", hear);
    const printed = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const look = (): void => {
          if (output.includes(text)) resolve(output);
          else if (child.exitCode !== null)
            reject(new Error(`it ended before "${text}": ${output}${errors}`));
        };
        listeners.add(look);
        look();
      });
    await printed(args.includes("--quiet") ? "listens on" : "Ctrl-C");
    const url = /listens on (\S+)/.exec(output)?.[1] ?? "";
    return { child, url, output: () => output, printed, errors: () => errors };
  }

  /** Writes a file of this name, each time in another place. */
  async write(name: string, content: string): Promise<string> {
    const file = this.path(name);
    await writeFile(file, content);
    return file;
  }

  /** The path of a file that does not exist yet. */
  path(name: string): string {
    this.#files += 1;
    return join(this.folder, `${this.#files}-${name}`);
  }

  /** Ends all processes that it has started. */
  end(): void {
    for (const child of this.#started.splice(0)) child.kill("SIGKILL");
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
