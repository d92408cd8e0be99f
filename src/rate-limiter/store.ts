/** A count shared by several processes. (Interface follows.) */
export interface RateLimitStore {
  take(request: unknown): Promise<unknown>;
  report(request: unknown): Promise<unknown>;
}
