import type { MockFaultKind } from "./faults.ts";
import type { MockOperation } from "./variants.ts";

/** A request that arrived. */
export interface MockRequest {
  /** `undefined` if no endpoint has this method and path. */
  operation: MockOperation | undefined;
  /** In upper case. */
  method: string;
  /** As it arrived, percent-encoding included. */
  path: string;
  /** Decoded. */
  query: Record<string, string>;
  /** Names in lower case. The mock's API keys are not secret. */
  headers: Record<string, string>;
  /** The parsed JSON, else the string; `undefined` if there was none. */
  body: unknown;
  /** The status of the response; `undefined` before the response, and if the connection broke. */
  status: number | undefined;
  /** Whether the request changed the state, whatever the response. */
  applied: boolean;
  /** The fault that affected the request. */
  fault?: MockFaultKind;
  /** The time of arrival, by the mock's clock. */
  arrivedAtMs: number;
}
