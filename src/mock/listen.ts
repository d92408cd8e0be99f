import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MockFault } from "./faults.ts";
import { checkOption, object, that } from "./json-rules.ts";
import { isConnectionReset } from "./mock-response.ts";
import type { MockClientOptions, MockListener, MockListenOptions, MockService } from "./public-types.ts";
import { startPage } from "./start-page.ts";

const isPort = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536;
const listenRule = object({ port: that(isPort, "must be an integer from 0 to 65,535") });

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
  checkOption("options", options, listenRule);
  const { createServer } = await import("node:http");
  const server = createServer((incoming, outgoing) => {
    void serve(
      incoming,
      outgoing,
      async (request) =>
        (await controlResponse(service, listening, request)) ??
        respond(request, String(incoming.socket.remoteAddress)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  // Safe: the server listens, and not on a pipe.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const close = () => closeServer(server);
  const here = (baseUrl: string) => url + new URL(baseUrl).pathname.replace(/\/+$/, "");
  const urls = { baseUrl: here(clientOptions.baseUrl), baseUrlV2: here(clientOptions.baseUrlV2) };
  const listening = { ...clientOptions, ...urls };
  return { url, clientOptions: listening, close, [Symbol.asyncDispose]: close };
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

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The paths of the mock itself, for tests in another process or language. */
const PREFIX = "/__mock/";

/** Serves the mock's own paths, only over real HTTP; `startPage` lists them. `undefined` for all other paths. */
async function controlResponse(
  service: MockService,
  clientOptions: MockClientOptions,
  request: Request,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (/^(GET|HEAD)$/.test(request.method) && pathname === "/") return new Response(startPage(clientOptions));
  if (!pathname.startsWith(PREFIX)) return undefined;
  const [resource = "", name = ""] = pathname.slice(PREFIX.length).split("/").map(decodeURIComponent);
  try {
    switch (`${request.method} ${resource}`) {
      case "GET organizations":
        return Response.json(service.organization(name));
      case "GET requests":
        return Response.json(service.requests);
      case "GET settled":
        await service.settled();
        return Response.json({ settled: true });
      case "POST faults": {
        // Safe: `addFault` checks it.
        service.addFault((await request.json()) as MockFault);
        return Response.json({ added: true }, { status: 201 });
      }
      case "POST reset":
        service.reset();
        return Response.json({ reset: true });
      default:
        return Response.json({ message: `there is no ${request.method} ${pathname}` }, { status: 404 });
    }
  } catch (error) {
    // Safe: the mock and `JSON.parse` throw nothing else.
    return Response.json({ message: (error as Error).message }, { status: 400 });
  }
}
