import { existsSync, readFileSync } from "node:fs";
import { checkRegular } from "../../files/regular-file.ts";
import { replaceFile } from "../../files/replacement.ts";
import type { MockClientOptions } from "../public-types.ts";
import { variablesOf } from "../start-page.ts";
import { messageOf, UsageError } from "./usage-error.ts";

/** The variables of a client, as the file may have them already. */
const OWN_LINE = /^\s*(export\s+)?AUDIENCE_(BASE_URL(_V2)?|API_KEY(_V2)?|APP_ID)\s*=/;

/** Writes a client's environment into a file for `node --env-file`, dotenv and the like. Other lines of the file stay. */
export function writeEnvFile(file: string, client: MockClientOptions): void {
  const lines = Object.entries(variablesOf(client)).map(([name, value]) => `${name}=${quoted(value)}\n`);
  try {
    checkRegular(file);
    replaceFile(file, [...otherLines(file), ...lines], { keepsMode: true });
  } catch (error) {
    throw new UsageError(`--env ${file}: ${messageOf(error)}`);
  }
}

function otherLines(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").replace(/\n$/, "").split("\n");
  const others = lines.filter((line) => !OWN_LINE.test(line)).map((line) => `${line}\n`);
  return others.join("").trim() === "" ? [] : others;
}

/** Quoted only if necessary: Docker takes quotes for a part of the value. */
function quoted(value: string): string {
  if (/^[\w%+,./:=@-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find((one) => !value.includes(one));
  return quote === undefined ? value : quote + value + quote;
}
