import type { RedisLike } from "audience-sdk/redis";
import { Redis as Redis5 } from "ioredis";
import { Redis as Redis6 } from "ioredis-6";
import { createClient as createClient5 } from "redis";
import { createClient as createClient6 } from "redis-6";

/** How a test connects: what one package calls `url` and the other hides in several options. */
export interface Connection {
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

export interface OpenClient {
  readonly client: RedisLike;
  /** Resolves once it is connected, and Redis has answered. */
  ready(): Promise<unknown>;
  close(): void;
}

export type ClientName = "ioredis 5" | "ioredis 6" | "redis 5" | "redis 6";

/** A user's client of Redis, of a package and version that the store promises to work with. */
export interface ClientKind {
  readonly name: ClientName;
  readonly open: (connection: Connection) => OpenClient;
}

// That a connection fails is what some tests ask for: it shows in what the store says of it.
const ignoreError = (): void => {};

/** Each of the two packages, in each of its two majors that are in use. */
export const clientKinds: readonly ClientKind[] = [
  { name: "ioredis 5", open: (connection) => ofIoredis(new Redis5(connection)) },
  { name: "ioredis 6", open: (connection) => ofIoredis(new Redis6(connection)) },
  { name: "redis 5", open: (connection) => ofRedis(createClient5(optionsOf(connection))) },
  { name: "redis 6", open: (connection) => ofRedis(createClient6(optionsOf(connection))) },
];

function ofIoredis(client: Redis5 | Redis6): OpenClient {
  client.on("error", ignoreError);
  return { client, ready: () => client.ping(), close: () => client.disconnect() };
}

function ofRedis(client: ReturnType<typeof createClient5> | ReturnType<typeof createClient6>): OpenClient {
  client.on("error", ignoreError);
  client.connect().catch(ignoreError);
  return { client, ready: () => client.ping(), close: () => client.destroy() };
}

function optionsOf({ port, ...user }: Connection) {
  return { ...user, socket: { port, host: "127.0.0.1" } };
}
