import type { ConnectionFailureReason } from "../errors.ts";
import { isObject } from "../is-object.ts";

export interface ConnectionFailure {
  readonly reason: ConnectionFailureReason;
  /** Only `false` where the runtime says so. */
  readonly wasSent: boolean;
  /** What was wrong with the answer, where the runtime could not read it: the end of a sentence. */
  readonly wasAnswer?: string;
  /** The runtime's own code, such as `ECONNREFUSED`; empty where it gives none. */
  readonly code: string;
}

type Known = Omit<ConnectionFailure, "code">;
type Signs = readonly (readonly [RegExp, Known])[];

const sent = { wasSent: true } as const;
const notSent = { wasSent: false } as const;
const notHttp = { reason: "other", ...sent, wasAnswer: "is not HTTP/1.1" } as const;

/** By the codes of Node (its sockets, its resolver, undici, its parser, OpenSSL) and Bun; the first that fits. */
const byCode: Signs = [
  [/^(ECONNREFUSED|ConnectionRefused)$/, { reason: "refused", ...notSent }],
  [/^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|FailedToOpenSocket)$/, { reason: "dns", ...notSent }],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|ConnectionClosed|UND_ERR_SOCKET)$/, { reason: "reset", ...sent }],
  [/^UND_ERR_CONNECT_TIMEOUT$/, { reason: "other", ...notSent }],
  [
    /^(UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW)$/,
    {
      ...notHttp,
      wasAnswer: "has longer headers than the runtime takes (on Node: --max-http-header-size)",
    },
  ],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, { ...notHttp, wasAnswer: "is not as long as it says" }],
  [/^HPE_/, notHttp],
  // A record that cannot be read comes in the middle of a connection.
  [/^ERR_SSL_.*BAD_RECORD_MAC/, { reason: "tls", ...sent }],
  // Certificates are refused before a request is written.
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|UNKNOWN_CERTIFICATE|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/,
    { reason: "tls", ...notSent },
  ],
];

/** What a socket was at: a failure there is one of a connection that never was, whatever its code. */
const connecting: ReadonlyMap<string, ConnectionFailureReason> = new Map([
  ["connect", "other"],
  ["getaddrinfo", "dns"],
]);

/** Node gives this the code of a reset connection. */
const beforeTls = /before secure TLS connection was established/;

/** By the words of runtimes that give no code (Deno; Node from 24 on, for what its parser refuses). */
const byMessage: Signs = [
  // A port that fetch keeps for other protocols.
  [/^bad port$/i, { reason: "other", ...notSent }],
  [/connection refused/i, { reason: "refused", ...notSent }],
  [/dns error|failed to lookup address/i, { reason: "dns", ...notSent }],
  [/invalid peer certificate|certificate/i, { reason: "tls", ...notSent }],
  [
    /connection (was )?reset|connection closed before message completed|broken pipe/i,
    { reason: "reset", ...sent },
  ],
  [/does not match the HTTP\/1\.1 protocol/, notHttp],
];

/** Reads a runtime's network error. Whether anything was sent is told by the runtime; where it does not tell, it was. */
export function readConnectionFailure(error: unknown): ConnectionFailure {
  const chain = causesOf(error);
  for (const cause of chain) {
    const known = readCode(cause);
    if (known) return { ...known, code: cause.code };
  }
  for (const { message } of chain) {
    const known = find(byMessage, message);
    if (known) return { ...known, code: "" };
  }
  return { reason: "other", ...sent, code: chain.find(({ code }) => code !== "")?.code ?? "" };
}

function readCode({ code, syscall, message }: Cause): Known | undefined {
  const known = find(byCode, code);
  const early = connecting.get(syscall);
  if (early) return { reason: known?.reason ?? early, ...notSent };
  return known && beforeTls.test(message) ? { ...known, ...notSent } : known;
}

function find(signs: Signs, text: string): Known | undefined {
  return signs.find(([sign]) => sign.test(text))?.[1];
}

/** What a runtime's decompression says of a body that is not what its `Content-Encoding` names. */
const decompressionCode = /^(Z_|ERR__ERROR_|ERR_BROTLI_|ERR_ZSTD_|ZSTD_)/;

/** Whether a body came whole, but cannot be decompressed: to ask for it again would not help. */
export function isUndecodable(error: unknown): boolean {
  return causesOf(error).some(({ code }) => decompressionCode.test(code));
}

/** What is asked of an error: texts, empty where it has none. */
interface Cause {
  readonly code: string;
  readonly syscall: string;
  readonly message: string;
}

/**
 * The error, its causes, and what an AggregateError (several addresses tried) holds; bounded, as a chain may be a ring.
 * What a fetch of the caller's own throws may be anything, and need not let itself be read.
 */
function causesOf(error: unknown): Cause[] {
  const found: Cause[] = [];
  const open: unknown[] = [error];
  while (open.length > 0 && found.length < 16) {
    const next = open.shift();
    if (!isObject(next)) continue;
    try {
      // Of any kind, each of them.
      const { code, syscall, message, cause, errors } = next as Record<string, unknown>;
      found.push({ code: textOf(code), syscall: textOf(syscall), message: textOf(message) });
      open.push(cause);
      if (Array.isArray(errors)) open.push(...(errors as unknown[]).slice(0, 8));
    } catch {
      // It says nothing.
    }
  }
  return found;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
