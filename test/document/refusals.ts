import { ValidationError } from "audience-sdk";
import { expect } from "vitest";
import type { Service } from "./entry-points.ts";

/** The call rejects with an issue for each of these paths, and no request has arrived at the mock. */
export async function expectNotSent(
  service: Service,
  call: PromiseLike<unknown>,
  ...paths: string[]
): Promise<ValidationError> {
  const error = await errorOf(call);
  expect(error).toBeInstanceOf(ValidationError);
  const refusal = error as ValidationError; // Safe: the line above fails otherwise.
  expect([...new Set(refusal.issues.map(({ path }) => path.join(".")))].toSorted()).toEqual(paths.toSorted());
  expect(refusal.outcome).toBe("not-sent");
  expect(service.mock.requests).toEqual([]);
  return refusal;
}

/** The service refuses the same body with 400, and its state does not change. */
export async function expectRefusedByService(service: Service, path: string, body: unknown): Promise<void> {
  const before = service.state();
  const { status } = await service.send("POST", path, body);
  expect(status).toBe(400);
  expect(service.mock.requests).toMatchObject([{ method: "POST", path, status: 400, applied: false }]);
  expect(service.state()).toEqual(before);
}

/** The error that a call rejects with. */
export async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return error;
  }
  throw new Error(`the call resolved to ${JSON.stringify(value)}`);
}
