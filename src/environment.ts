import * as z from "zod";
import { ofRuntime } from "./runtime.ts";
import { parseOption } from "./schema/parse-options.ts";
import { logLevels, type Logger, type LogLevel } from "./transport/observer.ts";

/** The options of a client that may come from the environment as they are, and their variables. */
export const environmentVariables = {
  baseUrl: "AUDIENCE_BASE_URL",
  baseUrlV2: "AUDIENCE_BASE_URL_V2",
  apiKey: "AUDIENCE_API_KEY",
  apiKeyV2: "AUDIENCE_API_KEY_V2",
  appId: "AUDIENCE_APP_ID",
} as const;

export type SourcedOption = keyof typeof environmentVariables;

/** The options that the environment gives a client: an option that the client is given goes before. */
type EnvironmentOptions = Partial<Record<SourcedOption, string>> & { logLevel?: LogLevel; logger?: Logger };

const rateLimitSchema = z.string().regex(/^(off|(?=.*[1-9])\d{0,9}\.?\d{1,9}x)$/, {
  error:
    "must be off, or how many times shorter the windows are, as 60x, or not set; other limits are an option, rateLimiter",
});

/** How many times shorter the windows are (`60x`); Infinity for `off`. Throws a `ConfigurationError` for anything else. */
export function readRateLimit(): number {
  const rateLimit = readVariable("AUDIENCE_RATE_LIMIT") ?? "1x";
  parseOption(rateLimitSchema, rateLimit, "AUDIENCE_RATE_LIMIT");
  return rateLimit === "off" ? Infinity : Number.parseFloat(rateLimit);
}

/** The options in the environment: an empty variable is not set. Throws a `ConfigurationError` that names the variable. */
export function readEnvironment(): EnvironmentOptions {
  const options: EnvironmentOptions = {};
  for (const [option, variable] of Object.entries(environmentVariables)) {
    const value = readVariable(variable);
    // Safe: a key of `environmentVariables`.
    if (value !== undefined) options[option as SourcedOption] = value;
  }
  const logLevel = readVariable("AUDIENCE_LOG");
  if (logLevel !== undefined) {
    options.logLevel = parseOption(z.enum(logLevels), logLevel, "AUDIENCE_LOG");
    options.logger = { debug: printLine, info: printLine, warn: printLine };
  }
  return options;
}

/** The value of a variable; undefined also if it is empty, or may not be read. */
function readVariable(variable: string): string | undefined {
  // The environment of Node inherits from `Object.prototype`. Some environments have getters alone, and no own property.
  if (Object.hasOwn(Object.prototype, variable)) return undefined;
  return ofRuntime(({ process }) => process?.env?.[variable]) || undefined;
}

// Registered, so that both module formats and all copies of the package print one line together.
const rateLimitSaidKey = Symbol.for("audience-sdk.rate-limit-said");

/** Prints the limit once for each process: one that was changed in production by mistake must not go unseen. */
export function sayRateLimit(effect: string): void {
  const shared = globalThis as { [rateLimitSaidKey]?: true };
  if (shared[rateLimitSaidKey]) return;
  shared[rateLimitSaidKey] = true;
  printLine(`audience-sdk: AUDIENCE_RATE_LIMIT=${effect}`);
}

/** Prints a line to stderr: on Node, Bun and Deno the console does so, and every other runtime has one. */
function printLine(line: string): void {
  // oxlint-disable-next-line no-console -- the environment asks for it
  console.error(line);
}
