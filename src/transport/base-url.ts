import * as z from "zod";
import { optionThat } from "../schema/parse-options.ts";

/** A base URL, as a call uses it: without its final slash. Refuses one that leads elsewhere than it seems to. */
export const baseUrlOption = optionThat<string | URL>(
  "a string that is not empty, or a URL",
  (value) => (typeof value === "string" && value !== "") || value instanceof URL,
).transform((given, { issues }) => {
  const value = String(given);
  const message = problemOf(value);
  if (message !== undefined) {
    issues.push({ code: "custom", message, input: given });
    return z.NEVER;
  }
  const { origin, pathname } = new URL(value);
  return origin + pathname.replace(/\/+$/, "");
});

function problemOf(value: string): string | undefined {
  // Browsers and servers accept little more, and the patterns below take time on long strings.
  if (value.length > 2_048) return "is longer than 2,048 characters";
  for (const [pattern, problem] of misleading) if (pattern.test(value)) return problem;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return "must begin with https:// and name a host, as https://example.com does";
  if (!isUnambiguousHost(/^\w+:\/\/([^/]*)/.exec(value)?.[1] ?? "", url.hostname))
    return "must name its host right after https://: a name, or four plain numbers";
  if (/\/(api\/v1|v2)(\/|$)/i.test(url.pathname))
    return "already holds /api/v1 or /v2, which each call adds: remove it";
  return undefined;
}

/** Whether an accepted base URL sends the key to another machine unencrypted. One that was refused is no text. */
export function isInsecure(baseUrl: unknown): boolean {
  return typeof baseUrl === "string" && baseUrl.startsWith("http:") && !isLoopback(new URL(baseUrl).hostname);
}

/** Characters that a URL parser drops or reinterprets. */
const misleading = [
  [
    /[^!-~]/,
    "holds white space or a character beyond ASCII: remove it, or write an international name as xn--…",
  ],
  [
    /[\\@?#]|\/(\.|%2e){1,2}(\/|$)/i,
    "must not hold a backslash, an @, a query or a fragment, nor a . or .. in its path",
  ],
] as const;
const hostName = /^[a-z0-9._-]+$/;

/** A URL parser rewrites numbers: 010.0.0.1 to 8.0.0.1, and 127.1 to 127.0.0.1. An IPv6 address is unambiguous. */
function isUnambiguousHost(host: string, hostname: string): boolean {
  if (host.startsWith("[")) return true;
  return hostName.test(hostname) && host.replace(/:\d*$/, "").toLowerCase() === hostname;
}

/** Without subdomains of `localhost`: the resolver may look them up in the network. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}
