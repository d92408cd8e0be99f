import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawServer {
  readonly url: string;
  /** Each request, byte for byte (Latin-1). */
  readonly requests: readonly string[];
  /** Resolves once every connection that brought a request is closed. */
  allClosed(): Promise<void>;
}

/** Writes any bytes once the request is complete. */
export type RawResponse = (socket: Socket, request: string, count: number) => void;

/** A server of sockets on loopback whose responses need not be HTTP. It closes with the test. */
export async function serveRaw(
  response: RawResponse,
  atOnce: RawResponse = () => undefined,
): Promise<RawServer> {
  const requests: string[] = [];
  const connections = new Set<Socket>();
  const closings: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    connections.add(socket);
    // A client that is cut off receives a reset.
    socket.on("error", () => undefined).on("close", () => connections.delete(socket));
    atOnce(socket, "", 0);
    let came = "";
    socket.setEncoding("latin1").on("data", (piece: string) => {
      came += piece;
      if (!isComplete(came)) return;
      const request = came;
      came = "";
      closings.push(new Promise((resolve) => socket.once("close", resolve)));
      response(socket, request, requests.push(request));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    allClosed: async () => void (await Promise.all(closings)),
  };
}

function isComplete(request: string): boolean {
  const end = request.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)/im.exec(request)?.[1] ?? "0";
  return end !== -1 && request.length >= end + 4 + Number(length);
}

/** Writes a chunk repeatedly, without end, as fast as the client reads. */
export function flood(socket: Socket, piece: string | Buffer): void {
  const go = () => {
    while (!socket.destroyed) if (!socket.write(piece, "latin1")) return void socket.once("drain", go);
  };
  go();
}

/** Writes a chunk at a fixed interval, without end. */
export function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on("close", () => clearInterval(timer));
}
