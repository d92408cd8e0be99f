import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A proxy in front of Redis that delays each chunk by `delayMs`, in either direction. */
export class SlowProxy {
  delayMs: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number, delayMs: number) {
    this.delayMs = delayMs;
    this.#server = createServer((near) => {
      const far = connect(target, "127.0.0.1");
      this.#pass(near, far);
      this.#pass(far, near);
    });
  }

  static async start(target: number, delayMs: number): Promise<SlowProxy> {
    const proxy = new SlowProxy(target, delayMs);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on TCP
    return `redis://127.0.0.1:${port}`;
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    // Timers of equal length fire in order. `delayMs` only shrinks while no chunk is delayed.
    from.on("data", (chunk) => setTimeout(() => to.write(chunk), this.delayMs));
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  }
}
