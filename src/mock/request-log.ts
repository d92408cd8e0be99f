import type { MockFaultKind } from "./faults.ts";
import type { MockOperation } from "./variants.ts";

/** One request that arrived, in order of arrival. */
export interface MockRequest {
  /** `undefined` where no endpoint has this method and path. */
  operation: MockOperation | undefined;
  /** In upper case. */
  method: string;
  /** As it arrived, percent-encoding included. */
  path: string;
  /** Decoded. */
  query: Record<string, string>;
  /** Names in lower case. The keys among them are the mock's own, and no secrets. */
  headers: Record<string, string>;
  /** The JSON, else the text; `undefined` where there was none. */
  body: unknown;
  /** What was answered; `undefined` while no response has left, and for ever where the connection broke. */
  status: number | undefined;
  /** Whether the request changed the books, whatever was answered. */
  applied: boolean;
  /** The fault that struck it. */
  fault?: MockFaultKind;
  /** By the mock's clock. */
  arrivedAtMs: number;
}
