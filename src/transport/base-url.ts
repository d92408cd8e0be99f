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
  const url = parseUrl(value);
  if (!url || !/^https?:\/\//i.test(value.trim()))
    return "must begin with https:// and name a host, as https://example.com does";
  if (url.username !== "" || url.password !== "" || /[?#]/.test(value))
    return "must not hold a user name, a password, a query or a fragment";
  if (/\/(api\/v1|v2)(\/|$)/i.test(url.pathname))
    return "already holds /api/v1 or /v2, which each call adds: remove it";
  return undefined;
}

/** `URL.canParse` of Node 20 and 22 refuses hosts such as `bücher.example` once it is called often. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether an accepted base URL sends the key to another machine unencrypted. One that was refused is no text. */
export function isInsecure(baseUrl: unknown): boolean {
  return typeof baseUrl === "string" && baseUrl.startsWith("http:") && !isLoopback(new URL(baseUrl).hostname);
}

/** Without subdomains of `localhost`: the resolver may look them up in the network. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}
