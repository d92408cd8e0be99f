import { stringThat } from "./json-rules.ts";

/** The paths of the mock itself, for tests in another process or language. */
export const OWN_PATHS = "/__mock/";

/** The names that lead to this machine, whatever a name server says. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** What browsers request beside a page, without being told to. */
const OF_BROWSERS: ReadonlySet<string> = new Set([
  "/favicon.ico",
  "/apple-touch-icon.png",
  "/apple-touch-icon-precomposed.png",
  "/.well-known/appspecific/com.chrome.devtools.json",
]);

/** The head of a request, as `node:http` has it: names and values of the headers alternate. */
interface RequestHead {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: readonly string[];
}

const HOST = /^(\[[\da-f:.]+\]|[\w-]+(\.[\w-]+)*)(:\d*)?$/i;

/** A name or an address as in a `Host`, with or without a port. */
export function isHost(value: string): boolean {
  return HOST.test(value) && URL.canParse(`http://${value}`);
}

/** A name that requests may give as their `Host`. */
export const hostRule = stringThat(
  isHost,
  "must be a host, such as mock.test or [fd00::1], without a scheme and a path",
);

/** The name in a `Host`, in lower case and without its port; of an address its usual form. */
const nameOf = (host: string): string => new URL(`http://${host}`).hostname;

/** The names that are answered: those of loopback and these. */
export function hostsOf(allowed: readonly string[]): ReadonlySet<string> {
  return new Set([...LOOPBACK, ...allowed.map(nameOf)]);
}

/**
 * The response to a request that must not come in (D117), or that a browser makes by itself; `undefined` for all others.
 * A page of another site can send requests to loopback: under a name of its own that leads there, which their `Host`
 * shows; or to the mock's address, which `Origin` and `Sec-Fetch-Site` show. Those to the service's paths need a key.
 */
export function doorResponse(incoming: RequestHead, hosts: ReadonlySet<string>): Response | undefined {
  // A `Request` has no such method.
  if (incoming.method === "TRACE")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD, POST, DELETE" } });
  const [host = "", another] = valuesOf("host", incoming);
  if (another !== undefined) return refuse("a request has one Host");
  if (!isHost(host) || !hosts.has(nameOf(host))) return refuse(unknownHost(host));
  // Safe: a request of a server has a target.
  const target = incoming.url!;
  // In a target that is an address, as for a proxy, the Host would count for nothing.
  if (!target.startsWith("/")) return refuse("the target of a request is a path, such as /v2/lists");
  const { origin, pathname } = new URL(`http://${host}${target}`);
  if (OF_BROWSERS.has(pathname)) return new Response(null, { status: 204 });
  if (!pathname.startsWith(OWN_PATHS)) return undefined;
  if (isOfAnotherSite(incoming, origin))
    return refuse(
      `${OWN_PATHS}… refuses what another site asks for: call it without a browser, or from ${origin}`,
    );
  if (isRead(incoming) || isJson(valuesOf("content-type", incoming))) return undefined;
  return refuse(
    `a ${incoming.method} to ${OWN_PATHS}… needs the header Content-Type: application/json, with or without a body`,
  );
}

/** Each value of a header, which a request may send several times. */
function valuesOf(name: string, { rawHeaders }: RequestHead): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
}

function refuse(message: string): Response {
  return Response.json({ message }, { status: 403 });
}

function unknownHost(host: string): string {
  return (
    `the mock answers if the Host is localhost, 127.0.0.1, [::1] or a name that it was given, not ${JSON.stringify(host)}: ` +
    "name it with audience-mock --allow-host NAME, or listen({ allowHosts: [NAME] })"
  );
}

/** Only a browser sends one of the two headers. */
function isOfAnotherSite(incoming: RequestHead, ownOrigin: string): boolean {
  const isOwn = (origin: string) => origin === ownOrigin;
  const isOfOwnPage = (site: string) => site === "same-origin" || site === "none";
  return (
    !valuesOf("origin", incoming).every(isOwn) || !valuesOf("sec-fetch-site", incoming).every(isOfOwnPage)
  );
}

const isRead = ({ method }: RequestHead): boolean => method === "GET" || method === "HEAD";

/** No site can send JSON elsewhere without asking, and no one is allowed to. */
function isJson(types: readonly string[]): boolean {
  return types.length === 1 && /^application\/json\s*(;|$)/i.test(types[0]!);
}
