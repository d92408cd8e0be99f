import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkNames } from "./check-names.ts";
import { controlResponse } from "./control.ts";
import { withoutFinalSlashes } from "./final-slashes.ts";
import type { MockClientOptions, MockListener, MockListenOptions, MockService } from "./interface.ts";
import { isObject } from "./is-object.ts";
import { isConnectionReset } from "./response.ts";

interface ListenContext {
  respond: (request: Request, clientIp: string) => Promise<Response>;
  service: MockService;
  clientOptions: MockClientOptions;
}

/** Serves real HTTP, only on loopback, so that no other machine can reach it. */
export async function listen(
  { respond, service, clientOptions }: ListenContext,
  options: MockListenOptions,
): Promise<MockListener> {
  const port = portIn(options);
  const { createServer } = await import("node:http");
  const server = createServer((incoming, outgoing) => {
    void serve(
      incoming,
      outgoing,
      async (request) =>
        (await controlResponse(service, request)) ?? respond(request, String(incoming.socket.remoteAddress)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${portOf(server)}`;
  const close = () => closeServer(server);
  const { baseUrl, baseUrlV2 } = clientOptions;
  const urls = { baseUrl: url + prefixOf(baseUrl), baseUrlV2: url + prefixOf(baseUrlV2) };
  return { url, clientOptions: { ...clientOptions, ...urls }, close, [Symbol.asyncDispose]: close };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  try {
    const response = await respond(await toRequest(incoming, gone.signal));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // Before the first part: a slow body must not delay its status.
    outgoing.flushHeaders();
    await send(response.body, outgoing, gone.signal);
    outgoing.end();
  } catch (error) {
    const isDefect = !isConnectionReset(error) && !gone.signal.aborted;
    if (!isDefect || outgoing.headersSent) return void incoming.socket.destroy();
    outgoing.writeHead(500, { "content-type": "text/plain" }).end(`the mock failed: ${String(error)}`);
  }
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const pieces: Uint8Array[] = [];
  // Safe: without an encoding the stream yields bytes.
  for await (const piece of incoming as AsyncIterable<Uint8Array>) pieces.push(piece);
  const headers = new Headers();
  // Names and values alternate.
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index]!, incoming.rawHeaders[index + 1]!);
  }
  // Safe: a request of a server has a method and a URL.
  const [method, target] = [incoming.method!, incoming.url!];
  const url = new URL(`http://${incoming.headers.host ?? "127.0.0.1"}${target}`);
  const hasBody = method !== "GET" && method !== "HEAD" && pieces.length > 0;
  return new Request(url, {
    method,
    headers,
    signal,
    ...(hasBody && { body: Buffer.concat(pieces) }),
  });
}

async function send(body: Response["body"], outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  const reader = body?.getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    if (!outgoing.write(next.value)) await drained(outgoing, gone);
  }
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once("drain", resolve);
    gone.addEventListener("abort", () => reject(new Error("the caller has gone")), { once: true });
  });
}

function portIn(options: unknown): number {
  if (!isObject(options)) throw new TypeError("the options of listen must be an object");
  checkNames("the options of listen", options, ["port"]);
  const { port = 0 } = options;
  if (typeof port === "number" && Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new TypeError("port must be an integer from 0 to 65,535");
}

function portOf(server: Server): number {
  // Safe: the server listens, and not on a pipe.
  const address = server.address() as AddressInfo;
  return address.port;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function prefixOf(baseUrl: string): string {
  return withoutFinalSlashes(new URL(baseUrl).pathname);
}
