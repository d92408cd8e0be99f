import { AudienceClient, isAudienceError, type ClientOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { messageInClone, UsageError } from "../console/program.ts";
import { say, type Output } from "../console/terminal.ts";
import { help, parseArguments, type ProbeArguments } from "./arguments.ts";
import { askAccount, WebPageError } from "./ask.ts";
import { redactor } from "./redact.ts";
import { reportLines } from "./report.ts";
import { writeOwnContact } from "./write.ts";

/** The inputs of the probe from its process. Ctrl-C aborts the signal. */
export interface ProbeSurroundings {
  readonly args: readonly string[];
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
  /** Options over those of the environment. */
  readonly client?: ClientOptions;
}

/** Runs the probe and returns the exit code. */
export async function runProbe({ args, output, errors, signal, client }: ProbeSurroundings): Promise<number> {
  const { AUDIENCE_API_KEY: key, AUDIENCE_API_KEY_V2: keyV2, AUDIENCE_APP_ID } = process.env;
  const appId = client?.appId ?? AUDIENCE_APP_ID;
  const keys = [key, keyV2, appId, client?.apiKey, client?.apiKeyV2];
  const redact = redactor(keys.filter((each) => typeof each === "string"));
  const print = (to: Output, lines: readonly string[]) => say(to, ...lines.map(redact));
  try {
    const options = parseArguments(args);
    if (options.isHelp) {
      say(output, help);
      return 0;
    }
    const mock = options.isMock ? createMockService().clientOptions : undefined;
    const settings = { ...client, ...mock };
    const { lines, isWhole } = await probe(settings, { ...options, appId: mock?.appId ?? appId, signal });
    print(output, lines);
    return isWhole ? 0 : 1;
  } catch (error) {
    if (signal.aborted) {
      print(output, ["Stopped."]);
      return 130;
    }
    if (error instanceof UsageError) {
      print(errors, [error.message, "npm run probe -- --help shows the options."]);
      return 2;
    }
    if (!isAudienceError(error) && !(error instanceof WebPageError)) throw error;
    print(errors, [`The probe was ended: ${messageInClone(error)}`]);
    return isAudienceError(error) && error.code === "configuration" ? 2 : 1;
  }
}

async function probe(
  settings: ClientOptions,
  { write, appId, signal }: ProbeArguments & { appId: string | undefined; signal: AbortSignal },
): Promise<{ lines: string[]; isWhole: boolean }> {
  await using audience = new AudienceClient({ ...settings, maxRetries: 0 });
  const answers = await askAccount(audience, { appId, signal });
  const headers = answers.needsAppId ? { "Service-App-Id": appId ?? "" } : {};
  const written =
    write === undefined ? undefined : await writeOwnContact(audience, write, { headers, signal });
  const { customers, groups, customer, group, lists, manyLists } = answers;
  const failures = [customers, groups, customer, group, lists, manyLists].flatMap((reply) =>
    typeof reply === "string" ? [] : (reply.message ?? []),
  );
  const problems = [...failures, ...(written?.problems ?? [])];
  const ending =
    problems.length === 0 ? [] : ["", "Not answered", ...problems.map((problem) => `  ${problem}`)];
  return { lines: [...reportLines({ ...answers, written }), ...ending], isWhole: problems.length === 0 };
}
