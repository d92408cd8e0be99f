import { ConfigurationError } from "./errors.ts";

/**
 * Lets `Array.from` of what comes over the network say what to use in its place: it asks for a `length`, and would give an
 * empty array. A plain `for` and a spread are refused by the runtime. Whoever only looks at the `length` gets no error, and a
 * `Symbol.iterator` would: `toEqual` of two pages in a test calls it. No type has the member.
 */
export function refuseArrayFrom<Value extends object>(value: Value, name: string, otherwise: string): Value {
  const refuse = () => {
    throw new ConfigurationError(
      `This is no array, as it comes over time: loop over it with \`for await (const ${name} of …)\`, or ${otherwise}.`,
    );
  };
  return Object.defineProperty(value, "length", { value: { [Symbol.toPrimitive]: refuse } });
}
