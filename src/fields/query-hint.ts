const options = new Set([
  "readAhead",
  "signal",
  "timeoutMs",
  "deadlineMs",
  "maxRetries",
  "maxWaitMs",
  "priority",
  "headers",
]);

/** A list takes its query first and its options second: what is said where one stands among the other. */
export function optionOfTheCall(key: string): string | undefined {
  return options.has(key)
    ? "an option of the call, and no field of the query: give it as the second argument"
    : undefined;
}
