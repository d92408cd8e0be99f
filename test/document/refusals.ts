import { ValidationError } from "audience-sdk";
import { expect } from "vitest";
import type { Service } from "./entry-points.ts";

/** The call rejects with one issue for each of these paths, and nothing has arrived at the mock. */
export async function expectNotSent(
  service: Service,
  call: PromiseLike<unknown>,
  ...paths: string[]
): Promise<ValidationError> {
  const error = await errorOf(call);
  expect(error).toBeInstanceOf(ValidationError);
  const refusal = error as ValidationError; // True: the line above has failed otherwise.
  expect([...new Set(refusal.issues.map(({ path }) => path.join(".")))].toSorted()).toEqual(paths.toSorted());
  expect(refusal.outcome).toBe("not-sent");
  expect(service.mock.requests).toEqual([]);
  return refusal;
}

/** The service itself refuses the same body with 400, and its books stay as they were. */
export async function expectRefusedByService(service: Service, path: string, body: unknown): Promise<void> {
  const before = service.state();
  const { status } = await service.send("POST", path, body);
  expect(status).toBe(400);
  expect(service.mock.requests).toMatchObject([{ method: "POST", path, status: 400, applied: false }]);
  expect(service.state()).toEqual(before);
}

/** What a call rejects with. */
export async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return error;
  }
  throw new Error(`the call resolved to ${JSON.stringify(value)}`);
}
