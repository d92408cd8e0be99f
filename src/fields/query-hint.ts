const options = /Ms$|^(readAhead|signal|maxRetries|priority|headers)$/;

/** A list takes its query first and its options second: what is said where one stands among the other. */
export function optionOfTheCall(key: string): string | undefined {
  return options.test(key) ? "an option of the call: give it as the second argument" : undefined;
}
