import { ConfigurationError } from "./errors.ts";

/**
 * Reads a base URL, which may carry a path prefix, to one without a final slash. What would lead somewhere else than
 * it reads (user info, backslashes, look-alike dots) is refused, and so is a key sent in the clear.
 */
export function readBaseUrl(value: string, option: string, allowInsecureHttp: boolean): string {
  const refuse = (problem: string): never => {
    throw new ConfigurationError(`${option} ${problem}.`);
  };
  if (/[^\u0021-\u007e]/.test(value))
    return refuse("holds a space or a character beyond ASCII; write international names as xn--…");
  if (value.includes("\\")) return refuse("holds a backslash");
  if (/^\w+:\/\/[^/]*%/.test(value)) return refuse("holds a percent sign in its host");
  const url = parse(value) ?? refuse("is not a URL; it reads like https://example.com/prefix");
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must begin with https://");
  if (!/^https?:\/\/[^/]/i.test(value)) return refuse("must name a host right after https://");
  if (url.username !== "" || url.password !== "" || value.includes("@"))
    return refuse("must not hold an @ or user info");
  if (value.includes("?") || value.includes("#")) return refuse("must not hold a query or a fragment");
  if (/\/(api\/v1|v2)(\/|$)/i.test(url.pathname))
    return refuse("already holds /api/v1 or /v2; leave that away, it is added to each call");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !allowInsecureHttp) {
    return refuse("is http:, which would send the key in the clear; use https:, or set allowInsecureHttp");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function parse(value: string): URL | undefined {
  try {
    return new URL(value);
  } catch {
    return undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(\.\d+){3}$/.test(hostname)
  );
}
