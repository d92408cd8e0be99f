// What checking a contact costs: the client's reader and the zod schema of the package, beside a zod schema of the same
// rules that is written by hand and closes none of zod's gaps. In turns, so that a busy machine is busy for all three.
import { v1ContactSchema } from "audience-sdk/schemas";
import * as z from "zod";
import { isDay } from "../../src/fields/day.ts";
import { isEmail } from "../../src/fields/email.ts";
import { v1Contact } from "../../src/v1/schemas/contact.ts";
import { validate } from "../../src/validate.ts";

const short = z.string().max(100).optional();
const long = z.string().max(255).optional();
const optIn = z.enum(["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"]).optional();
const byHand = z
  .strictObject({
    email: z.string().refine(isEmail).optional(),
    phone: z.string().min(7).max(20).optional(),
    external_id: z.string().optional(),
    first_name: short,
    last_name: short,
    email_opt_in: optIn,
    phone_opt_in: optIn,
    is_suppressed: z.boolean().optional(),
    double_opt_in: z.boolean().optional(),
    source: z.string().optional(),
    dob: z.string().refine(isDay).optional(),
    gender: z.enum(["MALE", "FEMALE", "OTHER"]).optional(),
    country: short,
    state: short,
    city: short,
    address1: long,
    address2: long,
    postal_code: z.string().min(3).max(20).optional(),
    custom_properties: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .refine((properties) => Object.keys(properties).length <= 30)
      .optional(),
  })
  .refine(({ email, phone }) => email !== undefined || phone !== undefined);

const contact = {
  email: "ada@example.com",
  phone: "+441234567890",
  external_id: "crm-1815",
  first_name: "Ada",
  last_name: "Lovelace",
  email_opt_in: "SUBSCRIBED",
  phone_opt_in: "NON_SUBSCRIBED",
  is_suppressed: false,
  double_opt_in: false,
  source: "import",
  dob: "1990-12-10",
  gender: "FEMALE",
  country: "United Kingdom",
  state: "England",
  city: "London",
  address1: "12 St James's Square",
  address2: "2nd floor",
  postal_code: "SW1Y 4LE",
  custom_properties: { plan: "pro", seats: 5, trial: false },
};

const readers = {
  "zod, written by hand": () => void byHand.parse(contact),
  "v1ContactSchema.safeParse": () => void v1ContactSchema.safeParse(contact).data,
  "the client's reader": () => void validate(v1Contact, contact),
};

const rounds = 41;
const times = new Map(Object.keys(readers).map((name): [string, number[]] => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, read] of Object.entries(readers)) {
    const startedAt = performance.now();
    for (let call = 0; call < 5_000; call += 1) read();
    times.get(name)?.push((performance.now() - startedAt) / 5);
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[rounds >> 1] ?? NaN;
const [base = NaN] = [...times.values()].map(median);
for (const [name, values] of times) {
  const microseconds = median(values);
  process.stdout.write(
    `${name}: ${microseconds.toFixed(2)} µs a full v1 contact, ${(base / microseconds).toFixed(2)} times the speed\n`,
  );
}
