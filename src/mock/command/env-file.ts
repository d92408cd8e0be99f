import type { MockClientOptions } from "../public-types.ts";
import { variablesOf } from "../start-page.ts";
import { replaceFile } from "./replace-file.ts";
import { messageOf, UsageError } from "./usage-error.ts";

/** Writes a client's environment as a file for `node --env-file`, dotenv and the like. */
export function writeEnvFile(file: string, client: MockClientOptions): void {
  const lines = Object.entries(variablesOf(client)).map(([name, value]) => `${name}=${quoted(value)}\n`);
  try {
    replaceFile(file, lines.join(""));
  } catch (error) {
    throw new UsageError(`--env ${file}: ${messageOf(error)}`);
  }
}

/** Quoted only if necessary: Docker takes quotes for a part of the value. */
function quoted(value: string): string {
  if (/^[\w%+,./:=@-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find((one) => !value.includes(one));
  return quote === undefined ? value : quote + value + quote;
}
