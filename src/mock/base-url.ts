/** Whether it is a base URL that paths can be put behind. */
export function isBaseUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:[^?#]*$/i.test(value) && URL.canParse(value);
}
