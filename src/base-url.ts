import { ConfigurationError } from "./errors.ts";

/**
 * Reads a base URL, which may carry a path prefix, to one without a final slash. What would lead somewhere else than
 * it reads (user info, backslashes, look-alike dots) is refused, and so is a key sent in the clear.
 */
export function readBaseUrl(value: string, option: string, allowInsecureHttp: boolean): string {
  const refuse = (problem: string): never => {
    throw new ConfigurationError(`${option} ${problem}.`);
  };
  // No browser or server takes one much longer, and what is looked for in it below would take its time.
  if (value.length > 2_048) return refuse("is longer than 2,048 characters");
  if (/[^\u0021-\u007e]/.test(value))
    return refuse("holds a space or a character beyond ASCII; write international names as xn--…");
  if (value.includes("\\")) return refuse("holds a backslash");
  const url = parse(value) ?? refuse("is not a URL; it reads like https://example.com/prefix");
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must begin with https://");
  if (url.username !== "" || url.password !== "" || value.includes("@"))
    return refuse("must not hold an @ or user info");
  if (value.includes("?") || value.includes("#")) return refuse("must not hold a query or a fragment");
  const [, host = "", path = ""] = /^\w+:\/\/([^/]*)(.*)/.exec(value) ?? [];
  if (!readsAsItLeads(host, url.hostname)) {
    return refuse(
      "must name its host right after https://, as it will be read: a name, or four plain numbers",
    );
  }
  if (dotSegment.test(path)) return refuse("holds a . or .. in its path, and would lead elsewhere");
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

const dotSegment = /\/(\.|%2e){1,2}(\/|$)/i;
const hostName = /^[a-z0-9._-]+$/;

/** Numbers are rewritten: 010.0.0.1 leads to 8.0.0.1, and 127.1 to 127.0.0.1. An IPv6 address reads as what it is. */
function readsAsItLeads(host: string, hostname: string): boolean {
  if (host.startsWith("[")) return true;
  return hostName.test(hostname) && host.replace(/:\d*$/, "").toLowerCase() === hostname;
}

/** Names below `localhost` are left to the resolver, which may ask the network for them. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
