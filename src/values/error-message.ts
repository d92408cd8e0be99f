// What a function of the user has thrown, or gives in place of a value.
import { kindOf } from "./kind-of.ts";
import { isObject } from "./predicates.ts";

export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return isObject(thrown) ? kindOf(thrown) : String(thrown);
}

/** The class of what a function of the user has thrown, where its message may hold a secret. */
export function errorType(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

/**
 * Handles the rejection of a promise that a function of the user returns instead of a value: unhandled, it would end the
 * process. The promise may be of another realm. A lazy one, such as a list of this package, is not started.
 */
export function ignoreRejection(
  result: unknown,
  onRejection: (error: unknown) => void = () => undefined,
): void {
  if (Object.prototype.toString.call(result) === "[object Promise]")
    Promise.resolve(result).catch(onRejection);
}
