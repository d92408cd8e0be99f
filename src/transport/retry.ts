import pRetry from "p-retry";

export interface RetryRules {
  /** More attempts than this are never made, whatever `beforeNext` says. */
  readonly maxAttempts: number;
  /** Rejects with the failure of attempt number `made` if it is final; else resolves once the next may be made. */
  readonly beforeNext: (failure: Error, made: number) => Promise<void>;
}

/** Runs an attempt until it succeeds or its failure is final. */
export async function retry<T>(attempt: () => Promise<T>, rules: RetryRules): Promise<T> {
  let first: Promise<T> | undefined = attempt();
  try {
    return await first;
  } catch {
    // To set up p-retry costs more than checking an input: only a call that has failed needs it, with that failure first.
    return await pRetry(
      () => {
        const made = first ?? attempt();
        first = undefined;
        return made;
      },
      {
        retries: rules.maxAttempts - 1,
        // The waits are ours: a service that names one is obeyed, and whoever listens is told of it beforehand.
        minTimeout: 0,
        maxTimeout: 0,
        onFailedAttempt: ({ error, attemptNumber }) => rules.beforeNext(error, attemptNumber),
      },
    );
  }
}
