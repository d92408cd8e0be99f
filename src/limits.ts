// Every number that the service documents, once ("Limits").

/**
 * The documented rate limit, counted by the service per IP address over both families ("Limits").
 *
 * 10 calls per second, 100 per minute, 1,000 per hour.
 */
export const DOCUMENTED_WINDOWS: readonly { readonly limit: number; readonly intervalMs: number }[] = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 60_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

/** The longest time for which the service counts a call: no wait that it can ask for is longer. */
export const longestWindowMs = Math.max(...DOCUMENTED_WINDOWS.map(({ intervalMs }) => intervalMs));

const upTo100 = { maxLength: 100 } as const;
const upTo255 = { maxLength: 255 } as const;

/**
 * The documented limits, by the name of the field ("Limits"). Lengths are in characters (code points) and inclusive.
 *
 * ```ts
 * nameInput.maxLength = LIMITS.first_name.maxLength; // 100
 * ```
 */
export const LIMITS = {
  /** Calls per window and IP address, over the whole service. */
  rate: DOCUMENTED_WINDOWS,
  /** `limit` of the v1 lists: the service's default is 10, and it counts anything over 100 as 100. */
  limit: { default: 10, max: 100 },
  /** v1 contact writes: keys per request. */
  custom_properties: { maxKeys: 30 },
  first_name: upTo100,
  last_name: upTo100,
  country: upTo100,
  state: upTo100,
  city: upTo100,
  address1: upTo255,
  address2: upTo255,
  phone: { minLength: 7, maxLength: 20 },
  postal_code: { minLength: 3, maxLength: 20 },
} as const;
