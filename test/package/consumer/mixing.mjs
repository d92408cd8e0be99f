// node mixing.mjs import|require zod audience-sdk/schemas: our schemas beside the user's own zod, loaded in this format
// and order. It checks each promise about mixing them.
import { createRequire } from "node:module";

const [format, ...names] = process.argv.slice(2);
const load = format === "import" ? (name) => import(name) : createRequire(import.meta.url);
const loaded = {};
for (const name of names) loaded[name] = await load(name);

const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
const accepts = (schema, ...values) => values.every((value) => schema.safeParse(value).success);
const refuses = (schema, ...values) => values.every((value) => !schema.safeParse(value).success);

async function mix(z, { v1ContactFieldsSchema, v1ContactSchema, v1EventSchema, v2ContactSchema }) {
  const nested = z.object({ contact: v1ContactSchema, source: z.string() });
  const { error } = nested.safeParse({ contact: { email: "nobody" }, source: 1 });
  const extended = v1ContactFieldsSchema.extend({ plan: z.enum(["free", "paid"]) });
  const picked = v1ContactFieldsSchema.pick({ email: true });
  const union = z.union([v1EventSchema, v1ContactSchema]);
  const { issues } = await v1ContactSchema["~standard"].validate({});
  return {
    "ours parses": accepts(v1ContactSchema, ada) && refuses(v1ContactSchema, {}),
    "theirs parses": accepts(z.string(), "a") && refuses(z.string(), 1),
    "ours in an object of theirs": accepts(nested, { contact: ada, source: "form" }),
    "both name their paths":
      String(error.issues.map(({ path }) => path.join("."))) === "contact.email,source",
    "ours in an array of theirs":
      accepts(z.array(v1ContactSchema), [ada]) && refuses(z.array(v1ContactSchema), [{}]),
    "ours in a union of theirs": accepts(union, ada) && refuses(union, {}),
    "ours in a pipe of theirs": accepts(z.unknown().pipe(v1ContactSchema), ada),
    "ours extended with theirs":
      accepts(extended, { ...ada, plan: "free" }) && refuses(extended, { plan: "no" }),
    "theirs extended with ours": accepts(z.object({ id: z.string() }).extend(v1ContactFieldsSchema.shape), {
      id: "1",
      ...ada,
    }),
    "ours picked and refined":
      accepts(picked, { email: ada.email }) &&
      refuses(
        picked.refine(() => false),
        {},
      ),
    "instanceof, of a schema":
      v1ContactSchema instanceof z.ZodObject && z.object({}) instanceof v1ContactSchema.constructor,
    "instanceof, of an error": v1ContactSchema.safeParse({}).error instanceof z.ZodError,
    "an error of ours, printed by theirs": z.prettifyError(error).includes("contact.email"),
    "the JSON schema that ours gives":
      v1ContactSchema.toJSONSchema().properties.first_name.maxLength === 100 &&
      v2ContactSchema.toJSONSchema().type === "object",
    "Standard Schema": issues.length > 0 && v1ContactSchema["~standard"].vendor === "zod",
    "the JSON schema that theirs makes of ours":
      jsonSchema(z, v1ContactSchema)?.properties.first_name.maxLength === 100,
    "the language that theirs is set to": inGerman(
      z,
      () => messageOf(v1ContactSchema) === messageOf(z.object({ email: z.string() })),
    ),
  };
}

function jsonSchema(z, schema) {
  try {
    return z.toJSONSchema(schema);
  } catch {
    return undefined;
  }
}

function messageOf(schema) {
  return schema.safeParse({ email: 1 }).error.issues[0].message;
}

function inGerman(z, run) {
  z.config(z.locales.de());
  try {
    return run();
  } finally {
    z.config(z.locales.en());
  }
}

console.log(JSON.stringify(await mix(loaded.zod, loaded["audience-sdk/schemas"])));
