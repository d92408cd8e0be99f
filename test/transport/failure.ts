import { isAudienceError, type AudienceError } from "audience-sdk";

/** The error of a call. A call that succeeds, or an error of another library, fails the test. */
export async function failureOf(call: PromiseLike<unknown>): Promise<AudienceError> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (isAudienceError(error)) return error;
    throw error;
  }
  throw new Error(`the call succeeded: ${JSON.stringify(value)}`);
}

/** The error that a function throws at once. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
