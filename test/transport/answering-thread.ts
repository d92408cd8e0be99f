import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";

const program = `
const { createServer } = require("node:http");
const { parentPort, workerData: { answered, body, headers } } = require("node:worker_threads");
const server = createServer((incoming, outgoing) => {
  incoming.resume().on("end", () => {
    outgoing.on("finish", () => {
      Atomics.store(answered, 0, 1);
      Atomics.notify(answered, 0);
    });
    outgoing.writeHead(200, headers).end(body);
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** A real HTTP server in a thread of its own: it responds while this thread is blocked. */
export async function serveInThread(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(program, { eval: true, workerData: { answered, body, headers } });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    /** Blocks this thread, and with it its event loop, until the server has responded, and for so long after. */
    blockUntilAnswered(thenMs: number): void {
      Atomics.wait(answered, 0, 0, 30_000);
      blockFor(thenMs);
    },
  };
}

/** Blocks this thread. */
export function blockFor(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
