// The cost of validating a contact: the schema alone, and through the client.
import { v1ContactSchema } from "audience-sdk/schemas";
import { validate } from "../../src/validate.ts";

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
  "v1ContactSchema.safeParse": () => void v1ContactSchema.safeParse(contact).data,
  "the client": () => void validate(v1ContactSchema, contact, []),
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
