import { missingOptions, type ClientSettings } from "../options.ts";
import type { FamilyAccess } from "../transport/interceptor.ts";

/** Base URL and authentication of the v2 family ("Authentication"). Throws a `ConfigurationError` if one is missing. */
export function v2Access({ baseUrlV2, apiKeyV2, appId }: ClientSettings): FamilyAccess {
  if (baseUrlV2 === undefined || apiKeyV2 === undefined || appId === undefined) {
    throw missingOptions("v2", { baseUrlV2, apiKeyV2, appId });
  }
  return {
    baseUrl: baseUrlV2,
    key: apiKeyV2,
    authenticate: (key) => ({ "service-api-key": key, "service-app-id": appId }),
  };
}
