import {
  ApiError,
  isAudienceError,
  NotFoundError,
  RateLimitError,
  RateLimitWaitError,
  ValidationError,
  type AnyAudienceError,
  type AudienceError,
  type Outcome,
} from "audience-sdk";

// How a user's program judges a failed call: by class, by code, by outcome.

export function say(error: unknown): string {
  if (error instanceof ValidationError) {
    return error.issues.map(({ path, code, message }) => `${path.join(".")} ${code} ${message}`).join();
  }
  if (error instanceof NotFoundError) return `${error.status} ${error.request?.path}`;
  if (error instanceof RateLimitError) return String(error.retryAfterMs ?? error.headers.get("retry-after"));
  if (error instanceof RateLimitWaitError) return error.retryAt.toISOString() + error.waitMs;
  if (error instanceof ApiError) return JSON.stringify(error.body);
  return isAudienceError(error) ? byCode(error) : String(error);
}

function byCode(error: AnyAudienceError): string {
  switch (error.code) {
    case "timeout":
      return `${error.timeoutMs} ms`;
    case "connection":
      return error.reason;
    case "unexpected_response":
      return String(error.status);
    case "redirect":
      return error.location ?? "";
    case "aborted":
      return String(error.cause);
    default:
      return error.message;
  }
}

export function canSendAgain({ outcome, request }: AudienceError): boolean {
  const safe: readonly Outcome[] = ["not-sent", "not-applied"];
  return safe.includes(outcome) && (request?.attempts ?? 0) < 10;
}
