import { ConfigurationError } from "./errors.ts";

/**
 * Lets a plain `for`, a spread and `Array.from` of what comes over the network say what to use in their place: else
 * `Array.from` gives an empty array. No type has the member, so that none of them compiles.
 */
export function refusePlainLoop<Value extends object>(value: Value, name: string, otherwise: string): Value {
  return Object.defineProperty(value, Symbol.iterator, {
    value: () => {
      throw new ConfigurationError(
        `This is no array, as it comes over time: loop over it with \`for await (const ${name} of …)\`, or ${otherwise}.`,
      );
    },
  });
}
