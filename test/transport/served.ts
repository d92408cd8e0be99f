import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { onTestFinished } from "vitest";

/** A request as it arrived over a socket. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Served {
  readonly url: string;
  readonly received: Received[];
  /** The options of a client of this server, without a rate limit. */
  readonly options: { baseUrl: string; baseUrlV2: string; apiKey: string; appId: string; rateLimiter: false };
}

export type Respond = (outgoing: ServerResponse, received: Received, count: number) => void;

const servedKey = "test-key-0123456789";

/** A real HTTP server on loopback, with the responses of the test. It and its connections are closed when the test ends. */
export async function serve(respond: Respond): Promise<Served> {
  const received: Received[] = [];
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, path: url, headers, body: Buffer.concat(pieces).toString() };
      respond(outgoing, request, received.push(request));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server.address())}`;
  const options = {
    baseUrl: url,
    baseUrlV2: url,
    apiKey: servedKey,
    appId: "app",
    rateLimiter: false,
  } as const;
  return { url, received, options };
}

/**
 * An address that refuses every connection while this process runs. Its port is the local end of a connection
 * that stays open, so that no other test can listen there.
 */
export async function refusedUrl(): Promise<string> {
  const far = createTcpServer().listen(0, "127.0.0.1").unref();
  await once(far, "listening");
  const near = connect(portOf(far.address()), "127.0.0.1").unref();
  await once(near, "connect");
  return `http://127.0.0.1:${near.localPort}`;
}

export function json(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** The response to `GET /api/v1/customer/{id}` and `POST /api/v1/customer/create`. */
export const profileResponse = {
  data: { type: "profile", id: "c-1", attributes: { email: "ada@example.com" } },
  links: {},
};

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
