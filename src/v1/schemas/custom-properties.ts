import * as z from "zod";
import { LIMITS } from "../../limits.ts";
import { besideOtherIssues } from "../../schema/issues.ts";
import { isObject, kindOf } from "../../schema/kind-of.ts";

/** A custom property. The service stores numbers and booleans as strings ("Custom property value rules"). */
export type CustomPropertyValue = string | number | boolean;

/** The custom properties of a v1 contact. A key whose value is `undefined` is left out. */
export type CustomProperties = Record<string, CustomPropertyValue | undefined>;

const value = z.union([z.string(), z.number(), z.boolean()], {
  error: ({ input }) =>
    isObject(input)
      ? `must be flat, not ${kindOf(input)}, which the service would store as unusable text: use flattenProperties`
      : undefined,
});

const { maxKeys } = LIMITS.custom_properties;

/** The custom properties of a v1 contact: flat, at most 30 keys. The service drops blank strings. */
export const customPropertiesSchema = z
  .record(z.string(), value.optional())
  .superRefine((properties, { addIssue }) => {
    const count = Object.values(properties).filter((property) => property !== undefined).length;
    if (count <= maxKeys) return;
    const message = `must have at most ${maxKeys} keys in one request, has ${count}`;
    addIssue({
      code: "too_big",
      origin: "object",
      maximum: maxKeys,
      inclusive: true,
      input: properties,
      message,
    });
  }, besideOtherIssues)
  .meta({ maxProperties: maxKeys }) satisfies z.ZodType<CustomProperties>;
