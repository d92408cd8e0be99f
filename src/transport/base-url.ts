import { ConfigurationError } from "../errors.ts";

/** Removes the final slash. Rejects a URL that leads elsewhere than it seems to, or would send the key unencrypted. */
export function parseBaseUrl(value: string, option: string, allowInsecureHttp: boolean): string {
  const reject = (problem: string): never => {
    throw new ConfigurationError(`${option} ${problem}.`);
  };
  // Browsers and servers accept little more, and the patterns below take time on long strings.
  if (value.length > 2_048) return reject("is longer than 2,048 characters");
  for (const [pattern, problem] of misleading) if (pattern.test(value)) return reject(problem);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return reject("must begin with https:// and name a host, as https://example.com does");
  if (!isUnambiguousHost(/^\w+:\/\/([^/]*)/.exec(value)?.[1] ?? "", url.hostname)) {
    return reject("must name its host right after https://: a name, or four plain numbers");
  }
  if (/\/(api\/v1|v2)(\/|$)/i.test(url.pathname))
    return reject("already holds /api/v1 or /v2, which each call adds");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !allowInsecureHttp) {
    return reject("is http:, which would send the key in the clear; use https:, or set allowInsecureHttp");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
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
