import type { RedisLike } from "audience-sdk/redis";
import { Redis as Redis5 } from "ioredis";
import { Redis as Redis6 } from "ioredis-6";
import { createClient as createClient5 } from "redis";
import { createClient as createClient6 } from "redis-6";

/** How a test connects. The two packages take these values in different options. */
export interface Connection {
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

export interface OpenClient {
  readonly client: RedisLike;
  /** Resolves once the client is connected and Redis has responded. */
  ready(): Promise<unknown>;
  close(): void;
}

export type ClientName = "ioredis 5" | "ioredis 6" | "redis 5" | "redis 6";

/** A user's Redis client, of a package and version that the Redis store supports. */
export interface ClientKind {
  readonly name: ClientName;
  readonly open: (connection: Connection) => OpenClient;
}

// Some tests make the connection fail on purpose. They assert on the error that the Redis store reports.
const ignoreError = (): void => {};

/** The two packages, each in its two major versions that are in use. */
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
