import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { doorResponse, hostRule, hostsOf } from "./doors.ts";
import type { Mock } from "./handle-request.ts";
import { MAX_BODY_BYTES } from "./json-body.ts";
import { arrayOf, checkOption, nonEmptyString, object, type Rule, that } from "./json-rules.ts";
import { isConnectionReset } from "./mock-response.ts";
import type { MockClientOptions, MockListener, MockListenOptions } from "./public-types.ts";

const isPort = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536;
const fields: Record<keyof MockListenOptions, Rule> = {
  port: that(isPort, "must be an integer from 0 to 65,535"),
  // For an empty one Node would listen on all addresses.
  host: nonEmptyString,
  allowHosts: arrayOf(hostRule),
};
const listenRule = object(fields);

interface ListenContext {
  respond: (request: Request, clientIp: string) => Promise<Response>;
  mock: Mock;
  clientOptions: MockClientOptions;
}

/** Serves real HTTP; unless told otherwise only on loopback, so that no other machine can reach it. */
export async function listen(
  { respond, mock, clientOptions }: ListenContext,
  options: MockListenOptions,
): Promise<MockListener> {
  checkOption("options", options, listenRule);
  const { port = 0, host = "127.0.0.1", allowHosts = [] } = options;
  const { createServer } = await import("node:http");
  // Not with the mock: one in process has no page.
  const { Control } = await import("./control.ts");
  const server = createServer((incoming, outgoing) => {
    void serve(incoming, outgoing, async (signal) => {
      const refusal = doorResponse(incoming, hosts);
      if (refusal !== undefined) return refusal;
      const request = await toRequest(incoming, signal);
      const ip = String(incoming.socket.remoteAddress);
      return (await control.respond(request)) ?? respond(request, ip);
    });
  });
  // An idle connection is the client's to close: one that closed just as a request comes would be a fault nobody asked for.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  // Safe: the server listens, and not on a pipe.
  const address = server.address() as AddressInfo;
  const hosts = hostsOf([hostOf(address), ...allowHosts]);
  const url = `http://${hostOf(address)}:${address.port}`;
  const close = () => closeServer(server);
  const here = (baseUrl: string) => url + new URL(baseUrl).pathname.replace(/\/+$/, "");
  const urls = { baseUrl: here(clientOptions.baseUrl), baseUrlV2: here(clientOptions.baseUrlV2) };
  const listening = { ...clientOptions, ...urls };
  const control = new Control(mock, listening);
  return { url, clientOptions: listening, close, [Symbol.asyncDispose]: close };
}

/** The host of a URL that leads here: of all addresses that of loopback. `::` takes connections to it, too. */
function hostOf({ address, family }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return "127.0.0.1";
  return family === "IPv6" ? `[${address}]` : address;
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: (signal: AbortSignal) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  try {
    const response = await respond(gone.signal);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // Before the first part: a slow body must not delay its status.
    outgoing.flushHeaders();
    const { pipeline } = await import("node:stream/promises");
    const body: unknown = response.body ?? [];
    // Safe: a web stream of Node is an async iterable.
    await pipeline(body as AsyncIterable<Uint8Array>, outgoing);
  } catch (error) {
    const isDefect = !isConnectionReset(error) && !gone.signal.aborted;
    if (!isDefect || outgoing.headersSent) return void incoming.socket.destroy();
    outgoing.writeHead(500, { "content-type": "text/plain" }).end(`the mock failed: ${String(error)}`);
  }
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Safe: without an encoding the stream yields bytes.
  for await (const piece of incoming as AsyncIterable<Uint8Array>) {
    // The rest of a body that is too large is read, so that its sender reads the response, and is not kept.
    if (bytes <= MAX_BODY_BYTES) pieces.push(piece);
    bytes += piece.length;
  }
  const headers = new Headers();
  // Names and values alternate.
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index]!, incoming.rawHeaders[index + 1]!);
  }
  // Safe: a request of a server has a method and a URL, and the doors let none in without a Host.
  const [method, target, host] = [incoming.method!, incoming.url!, incoming.headers.host!];
  const url = new URL(`http://${host}${target}`);
  const hasBody = method !== "GET" && method !== "HEAD" && pieces.length > 0;
  return new Request(url, {
    method,
    headers,
    signal,
    ...(hasBody && { body: Buffer.concat(pieces) }),
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
