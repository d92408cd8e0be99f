// Every number that the service documents, once ("Limits"). A leaf: it imports nothing.

/**
 * The documented rate limit, counted by the service per IP address over both families ("Limits").
 *
 * 10 calls per second, 100 per minute, 1,000 per hour.
 */
export const DOCUMENTED_WINDOWS: readonly { readonly limit: number; readonly intervalMs: number }[] =
  Object.freeze([
    Object.freeze({ limit: 10, intervalMs: 1_000 }),
    Object.freeze({ limit: 100, intervalMs: 60_000 }),
    Object.freeze({ limit: 1_000, intervalMs: 3_600_000 }),
  ]);

const upTo100 = Object.freeze({ maxLength: 100 } as const);
const upTo255 = Object.freeze({ maxLength: 255 } as const);

/**
 * The documented limits, under the names of the fields they bound ("Limits"). Lengths are in characters
 * (code points) and inclusive.
 *
 * ```ts
 * nameInput.maxLength = LIMITS.first_name.maxLength; // 100
 * ```
 */
export const LIMITS = Object.freeze({
  /** Calls per window and IP address, over the whole service. */
  rate: DOCUMENTED_WINDOWS,
  /** `limit` of the v1 lists: 10 where none is sent; the service counts anything over 100 as 100. */
  limit: Object.freeze({ default: 10, max: 100 } as const),
  /** v1 contact writes: keys per request. */
  custom_properties: Object.freeze({ maxKeys: 30 } as const),
  first_name: upTo100,
  last_name: upTo100,
  country: upTo100,
  state: upTo100,
  city: upTo100,
  address1: upTo255,
  address2: upTo255,
  phone: Object.freeze({ minLength: 7, maxLength: 20 } as const),
  postal_code: Object.freeze({ minLength: 3, maxLength: 20 } as const),
});
