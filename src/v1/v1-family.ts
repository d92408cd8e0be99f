import { missingOptions, type ClientSettings } from "../options.ts";
import type { FamilyAccess } from "../transport/interceptor.ts";

/** Base URL and authentication of the v1 family ("Authentication"). Throws a `ConfigurationError` if one is missing. */
export function v1Access({ baseUrl, apiKey }: ClientSettings): FamilyAccess {
  if (baseUrl === undefined || apiKey === undefined) throw missingOptions("v1", { baseUrl, apiKey });
  return { baseUrl, key: apiKey, authenticate: (key) => ({ "x-api-key": key }) };
}
