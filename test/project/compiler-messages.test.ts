import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { repository } from "./source-files.ts";

const file = join(repository, "test/types/none.ts");
const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);

const head = `
import { AudienceClient, type V1ListContact } from "audience-sdk";
import * as z from "zod";
const { customers, contactGroups, events } = new AudienceClient().v1;
const email = "ada@example.com";
const contact = { email };
const defined = events.define({ order_placed: z.object({ total: z.number() }), signed_up: null });
`;

/** A program of a user, as the compiler of the repository reads it. */
function read(code: string) {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...rest) =>
    path === file
      ? ts.createSourceFile(path, head + code, ts.ScriptTarget.ES2022)
      : getSourceFile(path, ...rest);
  const program = ts.createProgram([file], { ...options, noUnusedLocals: false }, host);
  return { program, source: program.getSourceFile(file)! };
}

/** Each mistake and the message of the compiler: its first line, and the last, which says what is wrong. */
const mistakes: readonly [code: string, first: string, last: string][] = [
  [
    'customers.upsert({ first_name: "Ada" })',
    `Argument of type '{ first_name: string; }' is not assignable to parameter of type 'WithEmailOrPhone<"first_name">'.`,
    `Property '"email or phone"' is missing in type '{ first_name: string; }' but required in type 'EmailOrPhone'.`,
  ],
  [
    'events.send({ eventName: "signed_up" })',
    `Argument of type '{ eventName: string; }' is not assignable to parameter of type 'WithContact<"eventName">'.`,
    `Property 'contact' is missing in type '{ eventName: string; }' but required in type '{ contact: { email: string; }; }'.`,
  ],
  [
    'contactGroups.addContact("l-1", { email })',
    "Argument of type '{ email: string; }' is not assignable to parameter of type 'V1ConsentedListContact'.",
    "Property 'email_opt_in' is missing in type '{ email: string; }' but required in type 'V1ConsentedListContact'.",
  ],
  [
    'defined.send("order", { contact })',
    `Argument of type '"order"' is not assignable to parameter of type '"order_placed" | "signed_up"'.`,
    `Argument of type '"order"' is not assignable to parameter of type '"order_placed" | "signed_up"'.`,
  ],
  [
    'defined.send("signed_up", {})',
    "Argument of type '{}' is not assignable to parameter of type 'DefinedEvent<null, never>'.",
    "Property 'contact' is missing in type '{}' but required in type '{ contact: { email: string; }; }'.",
  ],
  [
    'defined.send("order_placed", { contact })',
    `Argument of type '{ contact: { email: string; }; }' is not assignable to parameter of type 'DefinedEvent<{ total: number; }, "contact">'.`,
    "Property 'eventData' is missing in type '{ contact: { email: string; }; }' but required in type '{ readonly eventData: { total: number; }; }'.",
  ],
  [
    'defined.send("order_placed", { contact, eventData: { total: "42" } })',
    "Type 'string' is not assignable to type 'number'.",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    'defined.send("signed_up", { contact, eventData: {} })',
    "Type '{}' is not assignable to type 'undefined'.",
    "Type '{}' is not assignable to type 'undefined'.",
  ],
];

it("A message of the compiler says in its last line what is missing", () => {
  const { program, source } = read(mistakes.map(([code]) => `void ${code};`).join("\n"));
  const messages = program.getSemanticDiagnostics(source).map(({ messageText }) => {
    const lines = ts.flattenDiagnosticMessageText(messageText, "\n").split("\n");
    return [lines[0], lines.at(-1)?.trim()];
  });

  expect(messages).toEqual(mistakes.map(([, ...lines]) => lines));
});

it.each([
  ["defined", "DefinedEvents<{ order_placed: { total: number; }; signed_up: null; }>"],
  ["{} as V1ListContact", "V1ListContact"],
])("The type that an editor shows is short: %s", (name, shown) => {
  const { program, source } = read(`export const shown = ${name};`);
  const checker = program.getTypeChecker();
  const [symbol] = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);

  expect(checker.typeToString(checker.getTypeOfSymbol(symbol!))).toBe(shown);
});
