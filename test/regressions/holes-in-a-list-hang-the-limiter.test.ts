import { ConfigurationError, RateLimiter } from "audience-sdk";
import { expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

const holes: never[] = [];
holes.length = 4_000_000_000;
const snapshot = { version: 1, takenAt: 0, share: 1 } as const;

it.each([
  ["windows", { windows: holes }],
  ["answeredAt of a snapshot", { snapshot: { ...snapshot, answeredAt: holes } }],
  ["one hole in answeredAt", { snapshot: { ...snapshot, answeredAt: Array<number>(1) } }],
])("%s with holes are refused at the first", (_, options) => {
  expect(thrownBy(() => new RateLimiter(options))).toBeInstanceOf(ConfigurationError);
});
