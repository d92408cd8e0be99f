import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { pages, snippetsOf } from "./pages.ts";
import { repository } from "./source-files.ts";
import {
  changedNames,
  describeSurface,
  entrySources,
  publicSurface,
  readEntries,
  readReport,
  valuesOf,
  writeReport,
} from "./surface-report.ts";

const head = `
import { AudienceClient, write, type V1ListContact, type WriteValue } from "audience-sdk";
import * as z from "zod";
const audience = new AudienceClient();
const { customers, contactGroups, events } = audience.v1;
const job = write.v1.customers.upsert({ email: "ada@example.com" });
const email = "ada@example.com";
const defined = events.define({ order_placed: z.object({ total: z.number() }), signed_up: null });
`;

/** Each mistake and the message of the compiler: its first line, and of several the last, which says what is wrong. */
const mistakes: readonly [code: string, first: string, last?: string][] = [
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
    'audience.send({ operation: "v1.contactGroups.addContact", listId: "l-1", contact: { email } })',
    `Argument of type '{ operation: "v1.contactGroups.addContact"; listId: string; contact: { email: string; }; }' is not assignable to parameter of type '(UnconsentedAddContactWrite & { readonly operation: "v1.contactGroups.addContact"; }) | (AddContactWrite & { readonly operation: "v1.contactGroups.addContact"; })'.`,
    "Property 'email_opt_in' is missing in type '{ email: string; }' but required in type 'V1ConsentedListContact'.",
  ],
  [
    'write.v1.customers.upsert({ email, firstName: "Ada" })',
    `Object literal may only specify known properties, but 'firstName' does not exist in type 'WithEmailOrPhone<keyof V1Contact>'. Did you mean to write 'first_name'?`,
  ],
  [
    'write.v1.customers.upsert({ email, email_opt_in: "subscribed" })',
    `Type '"subscribed"' is not assignable to type '"SUBSCRIBED" | "NON_SUBSCRIBED" | "UNSUBSCRIBED" | undefined'. Did you mean '"SUBSCRIBED"'?`,
  ],
  [
    'write.v1.contactGroups.addContact("l-1", { email, email_opt_in: "SUBSCRIBED" }, { priority: 9 })',
    "Object literal may only specify known properties, and 'priority' does not exist in type 'AddContactWriteOptions'.",
  ],
  [
    'audience.send({ operation: "v1.customers.upsert", contact: { emial: email } })',
    "Object literal may only specify known properties, but 'emial' does not exist in type 'V1Contact'. Did you mean to write 'email'?",
  ],
  [
    'audience.send({ operation: "v1.customers.get", id: "1" })',
    `Type '"v1.customers.get"' is not assignable to type '"v1.customers.upsert" | "v1.contactGroups.addContact" | "v2.contacts.upsert" | "v1.request" | "v2.request" | "v1.events.send"'. Did you mean '"v1.customers.upsert"'?`,
  ],
  [
    "audience.send(customers.upsert({ email }))",
    `Argument of type 'ApiPromise<Profile>' is not assignable to parameter of type 'Write & { readonly operation: "v1.customers.upsert" | "v1.contactGroups.addContact" | "v2.contacts.upsert" | "v1.request" | "v2.request" | "v1.events.send"; }'.`,
  ],
];

/** The type of an expression, and how it is shown. */
const shown = [
  ["defined", "DefinedEvents<{ order_placed: { total: number; }; signed_up: null; }>"],
  ["{} as V1ListContact", "V1ListContact"],
  ["job", "CustomerWrite"],
  ["audience.send(job)", "ApiPromise<Profile>"],
  ["[] as WriteValue<(typeof job)[]>", "Profile[]"],
] as const;

// A folder that is there: the compiler looks for its files nowhere else.
const folder = "test/types";
const snippets = pages
  .flatMap(snippetsOf)
  .map((snippet, at) => ({ ...snippet, path: `${folder}/${snippet.fileName ?? `${at}.ts`}` }));

// One for all tests, as it reads the sources for seconds.
let program: ts.Program;
let report: string;
/** What it says of the mistakes. */
let messages: (string | undefined)[][];
beforeAll(() => {
  const code = mistakes.map(([mistake]) => `void ${mistake};`).join("\n");
  program = readEntries(
    new Map([
      [`${folder}/mistakes.ts`, head + code],
      ...shown.map(([name], at): [string, string] => [
        `${folder}/shown-${at}.ts`,
        `${head}export const shown = ${name};`,
      ]),
      ...snippets.map(({ path, code: text }): [string, string] => [path, text]),
    ]),
  );
  // In this order: the compiler shows the members of a union as it has come upon them.
  report = writeReport(describeSurface(program));
  messages = program.getSemanticDiagnostics(fileOf(`${folder}/mistakes.ts`)).map((diagnostic) => {
    const lines = textOf(diagnostic).split("\n");
    return [lines[0], lines.at(-1)?.trim()];
  });
  // On a machine that is busy with other things it takes minutes.
}, 600_000);

const fileOf = (path: string): ts.SourceFile => program.getSourceFile(join(repository, path))!;
const textOf = ({ messageText }: ts.Diagnostic) => ts.flattenDiagnosticMessageText(messageText, "\n");

describe("The public surface", () => {
  it("has the declarations of the report, each name with its whole type", async () => {
    await expect(report).toMatchFileSnapshot(join(repository, "test/project/public-surface.md"));
  });

  it.each(Object.entries(entrySources))(
    "of %s has at run time what it declares, by name",
    async (entry, source) => {
      const module: object = await import(source);

      expect(Object.keys(module).sort()).toEqual(valuesOf(publicSurface[entry]!));
      expect(publicSurface[entry]).not.toHaveProperty("default");
    },
  );
});

it("Each public function and class is called with hostile values by a test in test/hostile", () => {
  const tests = readFileSync(join(repository, "test/hostile/arguments.test.ts"), "utf8");
  const names = Object.values(publicSurface).flatMap(valuesOf);
  const called = names.filter((name) => !/Error$|^[A-Z_]+$|Schema$|^write$/.test(name));

  expect(called.length).toBeGreaterThan(10);
  expect(called.filter((name) => !new RegExp(`\\b${name}\\b`).test(tests))).toEqual([]);
});

describe("The report", () => {
  const before = { kit: { A: "type A = string", B: "class B {\n  b: 1;\n}" }, more: { C: "const C: 1" } };

  it("survives writing and parsing", () => {
    expect(readReport(writeReport(before))).toEqual(before);
  });

  it("lists changed declarations, and not added or removed ones", () => {
    const after = { kit: { A: "type A = number", D: "type D = 1" }, more: { C: "const C: 1" } };
    expect(changedNames(before, after)).toEqual({ kit: ["A"] });
  });

  it("contains no path of one machine", () => {
    expect(readFileSync(join(repository, "test/project/public-surface.md"), "utf8")).not.toContain("import(");
  });
});

describe("A message of the compiler", () => {
  it("says in its last line what is missing", () => {
    expect(messages).toEqual(mistakes.map(([, first, last = first]) => [first, last]));
  });
});

describe("The type that an editor shows", () => {
  it.each(shown.map(([name, type], at) => ({ name, type, at })))("is short: $name", ({ type, at }) => {
    const checker = program.getTypeChecker();
    const [symbol] = checker.getExportsOfModule(
      checker.getSymbolAtLocation(fileOf(`${folder}/shown-${at}.ts`))!,
    );

    expect(checker.typeToString(checker.getTypeOfSymbol(symbol!))).toBe(type);
  });
});

describe("The snippets of the pages", () => {
  it("compile", () => {
    const problems = snippets.flatMap(({ path, location }) =>
      [...program.getSyntacticDiagnostics(fileOf(path)), ...program.getSemanticDiagnostics(fileOf(path))].map(
        (diagnostic) => `${location}: ${textOf(diagnostic)}`,
      ),
    );

    expect(snippets.length).toBeGreaterThan(50);
    expect(problems).toEqual([]);
  });
});
