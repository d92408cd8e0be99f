// Reaches into `src`: the command can print neither such addresses nor a text without listening.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startMessage } from "../../src/mock/cli-messages.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "audience-mock-environment-"));
  // Replaces curl and prints one line for each argument.
  writeFileSync(join(folder, "curl"), '#!/bin/sh\nprintf "<%s>\\n" "$@"\n', { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Printed {
  baseUrl: string;
  apiKey: string;
  apiKeyV2: string;
  appId: string;
}

function linesOf({ baseUrl, apiKey, apiKeyV2, appId }: Printed): string[] {
  const client = { baseUrl, baseUrlV2: baseUrl, apiKey, apiKeyV2, appId, rateLimiter: false } as const;
  const message = startMessage(client, [{ id: "acme", apiKeys: [apiKey], apiKeysV2: [apiKeyV2], appId }]);
  return message.split("\n").filter((line) => /^(export|curl) /.test(line));
}

/** The arguments that a shell passes after running the printed lines. */
function readBack(printed: Printed): string[] {
  const lines = linesOf(printed);
  const names = ["BASE_URL", "BASE_URL_V2", "API_KEY", "API_KEY_V2", "APP_ID"];
  const shown = names.map((name) => `printf '<%s>\\n' "$AUDIENCE_${name}"`);
  const environment = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder };
  const script = [...lines, ...shown].join("\n");
  return execFileSync("/bin/sh", ["-eu", "-c", script], { env: environment, encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

const plain: Printed = {
  baseUrl: "http://127.0.0.1:4010/prefix",
  apiKey: "mock-api-key-not-a-secret",
  apiKeyV2: "acme_key.v2",
  appId: "mock-app-id",
};

it.each<[string, Partial<Printed>]>([
  ["none needs a quote", {}],
  ["a key holds a variable, spaces and quotes", { apiKey: "k $HOME 'x'" }],
  ["a key is a quote alone", { apiKey: "'", apiKeyV2: '"' }],
  ["a key would run a command", { apiKey: "`id`", apiKeyV2: "$(id)" }],
  ["an app id would end the line", { appId: "x;y" }],
  ["an app id holds a space", { appId: "a b" }],
  ["a key begins with a home", { apiKey: "~", apiKeyV2: "a:~" }],
  ["a key would be a comment or a pattern", { apiKey: "#k", apiKeyV2: "k*?[a]" }],
  ["a key holds backslashes and exclamation marks", { apiKey: "k\\n!1", apiKeyV2: "\\" }],
  ["an address holds characters that a path allows", { baseUrl: "http://127.0.0.1:4010/a'b(c)&d;e$HOME" }],
])("A shell reads the output of audience-mock unchanged: %s", (_, more) => {
  const printed = { ...plain, ...more };
  const { baseUrl, apiKey, apiKeyV2, appId } = printed;
  const call = ["-H", `X-API-Key: ${apiKey}`, `${baseUrl}/api/v1/contact-groups`];

  expect(readBack(printed)).toEqual(
    [...call, baseUrl, baseUrl, apiKey, apiKeyV2, appId].map((text) => `<${text}>`),
  );
});

it("A value that needs no quotes is printed without them", () => {
  expect(linesOf(plain)).toEqual([
    "export AUDIENCE_BASE_URL=http://127.0.0.1:4010/prefix",
    "export AUDIENCE_BASE_URL_V2=http://127.0.0.1:4010/prefix",
    "export AUDIENCE_API_KEY=mock-api-key-not-a-secret",
    "export AUDIENCE_API_KEY_V2=acme_key.v2",
    "export AUDIENCE_APP_ID=mock-app-id",
    "curl -H 'X-API-Key: mock-api-key-not-a-secret' http://127.0.0.1:4010/prefix/api/v1/contact-groups",
  ]);
});
