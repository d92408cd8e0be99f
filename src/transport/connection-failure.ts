import type { ConnectionFailureReason } from "../errors.ts";

export interface ConnectionFailure {
  readonly reason: ConnectionFailureReason;
  /** Only `false` where the runtime says so. */
  readonly wasSent: boolean;
  /** The runtime's own code, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
}

const notSent = { wasSent: false } as const;
const sent = { wasSent: true } as const;

/** By the codes of Node (its sockets, its resolver, undici) and Bun. */
const byCode: Readonly<Record<string, Omit<ConnectionFailure, "code">>> = {
  ECONNREFUSED: { reason: "refused", ...notSent },
  ConnectionRefused: { reason: "refused", ...notSent },
  EHOSTUNREACH: { reason: "other", ...notSent },
  ENETUNREACH: { reason: "other", ...notSent },
  EADDRNOTAVAIL: { reason: "other", ...notSent },
  UND_ERR_CONNECT_TIMEOUT: { reason: "other", ...notSent },
  ENOTFOUND: { reason: "dns", ...notSent },
  EAI_AGAIN: { reason: "dns", ...notSent },
  EAI_FAIL: { reason: "dns", ...notSent },
  FailedToOpenSocket: { reason: "dns", ...notSent },
  ECONNRESET: { reason: "reset", ...sent },
  EPIPE: { reason: "reset", ...sent },
  ECONNABORTED: { reason: "reset", ...sent },
  ConnectionClosed: { reason: "reset", ...sent },
  UND_ERR_SOCKET: { reason: "reset", ...sent },
};

/** Certificates are refused before a request is written. */
const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|UNKNOWN_CERTIFICATE|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/** By the words of runtimes that give no code (Deno). */
const byMessage: readonly (readonly [RegExp, Omit<ConnectionFailure, "code">])[] = [
  [/connection refused/i, { reason: "refused", ...notSent }],
  [/dns error|failed to lookup address/i, { reason: "dns", ...notSent }],
  [/invalid peer certificate|certificate/i, { reason: "tls", ...notSent }],
  [
    /connection (was )?reset|connection closed before message completed|broken pipe/i,
    { reason: "reset", ...sent },
  ],
];

/** Reads a runtime's network error. Whether anything was sent is told by the runtime; where it does not tell, it was. */
export function readConnectionFailure(error: unknown): ConnectionFailure {
  const chain = causesOf(error);
  for (const cause of chain) {
    const code = codeOf(cause);
    if (code === undefined) continue;
    const known = Object.hasOwn(byCode, code)
      ? byCode[code]
      : tlsCode.test(code)
        ? { reason: "tls" as const, ...notSent }
        : undefined;
    if (known) return { ...known, code };
  }
  for (const cause of chain) {
    const message = cause instanceof Error ? cause.message : "";
    const known = byMessage.find(([words]) => words.test(message));
    if (known) return { ...known[1], code: undefined };
  }
  return { reason: "other", ...sent, code: chain.map(codeOf).find((code) => code !== undefined) };
}

/** What a runtime's decompression says of a body that is not what its `Content-Encoding` names. */
const decompressionCode = /^(Z_|ERR__ERROR_|ERR_BROTLI_|ERR_ZSTD_|ZSTD_)/;

/** Whether a body came whole, but cannot be decompressed: to ask for it again would not help. */
export function isUndecodable(error: unknown): boolean {
  return causesOf(error).some((cause) => decompressionCode.test(codeOf(cause) ?? ""));
}

/** The error, its causes, and what an AggregateError (several addresses tried) holds; bounded, as a chain may be a ring. */
function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  const open: unknown[] = [error];
  while (open.length > 0 && found.length < 16) {
    const next = open.shift();
    if (typeof next !== "object" || next === null) continue;
    found.push(next);
    if ("cause" in next) open.push(next.cause);
    if ("errors" in next && Array.isArray(next.errors)) open.push(...(next.errors as unknown[]).slice(0, 8));
  }
  return found;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
