import { missingOptions, type ClientSettings } from "../options.ts";
import type { FamilyAccess } from "../transport/job.ts";

/** How the v1 family is reached ("Authentication"). Throws a `ConfigurationError` that names all that is missing. */
export function v1Access({ baseUrl, apiKey }: ClientSettings): FamilyAccess {
  if (baseUrl === undefined || apiKey === undefined) {
    const missing = { baseUrl, apiKey };
    throw missingOptions(
      (["baseUrl", "apiKey"] as const).filter((name) => missing[name] === undefined),
      "v1",
    );
  }
  return { baseUrl, key: apiKey, authenticate: (key) => ({ "x-api-key": key }) };
}
