/** Whether the value is a base URL, to which paths can be appended. */
export function isBaseUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:[^?#]*$/i.test(value) && URL.canParse(value);
}
