import { isObject } from "./json-rules.ts";

/** The addresses, numbers and ids by which the body of a write names a person, in whatever shape it is. */
export function namesIn(body: unknown): string[] {
  if (!isObject(body)) return [];
  const contact = isObject(body["contact"]) ? body["contact"] : {};
  const identifiers: unknown[] = Array.isArray(body["identifiers"]) ? body["identifiers"] : [];
  const named: unknown[] = [
    body["email"],
    body["phone"],
    contact["email"],
    contact["phone"],
    contact["external_id"],
    contact["contactUUID"],
    body["contactUUID"],
    ...identifiers.map((identifier) => (isObject(identifier) ? identifier["id"] : undefined)),
  ];
  return named.filter((name) => typeof name === "string" || typeof name === "number").map(String);
}
