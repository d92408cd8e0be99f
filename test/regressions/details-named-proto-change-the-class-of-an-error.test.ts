import { AudienceError, NotFoundError } from "audience-sdk";
import { expect, it } from "vitest";

it("an error whose details have a __proto__ of their own stays one of its class", () => {
  // As parsed JSON has it.
  const own = JSON.parse('{"__proto__":{"polluted":1}}') as object;
  const details = {
    message: "m",
    outcome: "not-applied",
    status: 404,
    headers: new Headers(),
    body: {},
  } as const;

  const error = new NotFoundError({ ...details, ...own });

  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toBeInstanceOf(AudienceError);
  expect(Reflect.get(error, "polluted")).toBeUndefined();
  expect(JSON.stringify(error)).toContain('"status":404');
});
