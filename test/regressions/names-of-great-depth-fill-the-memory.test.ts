import { ValidationError } from "audience-sdk";
import { flattenProperties } from "audience-sdk/schemas";
import { expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

it("ninety thousand values at 900 levels, whose names would take 160 MB, are refused", () => {
  let value: object = Array.from({ length: 90_000 }, () => 1);
  for (let level = 0; level < 900; level++) value = { a: value };

  const error = thrownBy(() => flattenProperties({ deep: value, beside: [value] }));

  expect(error).toBeInstanceOf(ValidationError);
  expect((error as ValidationError).issues).toMatchObject([
    {
      path: [],
      code: "too_big",
      message: "is nested so deep that its names would have more than 10000000 characters",
    },
  ]);
});
