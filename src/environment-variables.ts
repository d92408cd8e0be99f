import { ConfigurationError } from "./errors.ts";

/** The options that may come from the environment, and their variables. */
const environmentVariables = {
  baseUrl: "AUDIENCE_BASE_URL",
  baseUrlV2: "AUDIENCE_BASE_URL_V2",
  apiKey: "AUDIENCE_API_KEY",
  apiKeyV2: "AUDIENCE_API_KEY_V2",
  appId: "AUDIENCE_APP_ID",
} as const;

/** An option that may come from the environment. */
export type SourcedOption = keyof typeof environmentVariables;

type EnvironmentOptions = Partial<Record<SourcedOption, string>>;

export function variableOf(option: SourcedOption): string {
  return environmentVariables[option];
}

/** The options in the environment. An empty variable counts as not set. */
export function fromEnvironment(): EnvironmentOptions {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const options: EnvironmentOptions = {};
  for (const [option, variable] of Object.entries(environmentVariables)) {
    const value = process?.env?.[variable];
    if (value) options[option as SourcedOption] = value;
  }
  return options;
}

/** Names the options that a family lacks, with their environment variables. */
export function missingOptions(
  family: string,
  needed: Partial<Record<SourcedOption, unknown>>,
): ConfigurationError {
  const list = Object.entries(environmentVariables)
    .filter(([name]) => name in needed && needed[name as keyof typeof needed] === undefined)
    .map(([name, variable]) => `${name} (or ${variable})`);
  return new ConfigurationError(`The ${family} family needs ${list.join(", ")}.`);
}

export function missingBaseUrl(): ConfigurationError {
  const { baseUrl, baseUrlV2 } = environmentVariables;
  return new ConfigurationError(
    `The client needs baseUrl (or ${baseUrl}) for the v1 family, or baseUrlV2 (or ${baseUrlV2}) for the v2 family.`,
  );
}
