import pRetry from "p-retry";

export interface RetryRules {
  /** More attempts than this are never made, whatever `beforeNext` says. */
  readonly maxAttempts: number;
  /** The call's: aborted, nothing is tried again. */
  readonly signal: AbortSignal;
  /** Rejects with the failure of attempt number `made` if it is final; else resolves once the next may be made. */
  readonly beforeNext: (failure: Error, made: number) => Promise<void>;
}

/** Runs an attempt until it succeeds or its failure is final. */
export function retry<T>(attempt: () => Promise<T>, rules: RetryRules): Promise<T> {
  return pRetry(attempt, {
    retries: rules.maxAttempts - 1,
    // The waits are ours: a service that names one is obeyed, and whoever listens is told of it beforehand.
    minTimeout: 0,
    maxTimeout: 0,
    signal: rules.signal,
    onFailedAttempt: ({ error, attemptNumber }) => rules.beforeNext(error, attemptNumber),
  });
}
