import { ConnectionError, type ConnectionFailureReason } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import type { Redactor } from "./redact.ts";

interface ConnectionFailure {
  readonly reason: ConnectionFailureReason;
  /** Only `false` where the runtime says so. */
  readonly wasSent: boolean;
  /** What was wrong with the answer, where the runtime could not read it: the end of a sentence. */
  readonly responseProblem: string | undefined;
  /** The runtime's own code, such as `ECONNREFUSED`; empty where it gives none. */
  readonly code: string;
}

type Known = Omit<ConnectionFailure, "code">;

/**
 * By the codes of Node (its sockets, its resolver, undici, its parser, OpenSSL) and Bun, and by the words of runtimes
 * that give no code (Deno; Node from 24 on, for what its parser refuses); the first that fits.
 */
const knownFailures: readonly (readonly [RegExp, Known])[] = [
  [/^(ECONNREFUSED|ConnectionRefused)$|connection refused/i, failed("refused", false)],
  [
    /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|FailedToOpenSocket)$|dns error|failed to lookup address/i,
    failed("dns", false),
  ],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|ConnectionClosed|UND_ERR_SOCKET)$|connection (was )?reset|connection closed before message completed|broken pipe/i,
    failed("reset", true),
  ],
  // A bad port is one that fetch keeps for other protocols.
  [/^(UND_ERR_CONNECT_TIMEOUT|bad port)$/i, failed("other", false)],
  [
    /^(UND_ERR_HEADERS|HPE_HEADER)_OVERFLOW$/,
    failed("other", true, "has longer headers than the runtime accepts (on Node: --max-http-header-size)"),
  ],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, failed("other", true, "is not as long as it says")],
  [/^HPE_|does not match the HTTP\/1\.1 protocol/, failed("other", true, "is not HTTP/1.1")],
  // A record that cannot be read comes in the middle of a connection.
  [/^ERR_SSL_.*BAD_RECORD_MAC/, failed("tls", true)],
  // Certificates are refused before a request is written.
  [
    /^(ERR_TLS_|ERR_SSL_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)|CERT|[Cc]ertificate/,
    failed("tls", false),
  ],
];

function failed(reason: ConnectionFailureReason, wasSent: boolean, responseProblem?: string): Known {
  return { reason, wasSent, responseProblem };
}

/** What a socket was at: a failure there is one of a connection that never was, whatever its code. */
const connectSyscalls: ReadonlyMap<string, ConnectionFailureReason> = new Map([
  ["connect", "other"],
  ["getaddrinfo", "dns"],
]);

/** Node gives this the code of a reset connection. */
const beforeTls = /before secure TLS connection was established/;

/** What a runtime's network error says, and none of what it holds: that may be the request, and with it the key. */
export function connectionError(error: unknown, url: string, redactor: Redactor): ConnectionError {
  const { reason, wasSent, responseProblem, ...failure } = parseConnectionFailure(error);
  // A fetch of the caller's may put anything into its errors.
  const code = redactor.string(failure.code);
  // Without the path, in which an id may be an e-mail address.
  const { origin } = new URL(url);
  const codeSuffix = code ? ` (${code})` : "";
  const failedPart = responseProblem
    ? `The response from ${origin} ${responseProblem}${codeSuffix}.`
    : `The connection to ${origin} failed before the complete response was received${codeSuffix}.`;
  return new ConnectionError({
    message: wasSent
      ? failedPart
      : `No connection to ${origin} could be made${codeSuffix}; nothing was sent.`,
    outcome: wasSent ? "unknown" : "not-sent",
    reason,
    cause: safeCause(error, redactor),
  });
}

function safeCause(error: unknown, redactor: Redactor): Error | undefined {
  try {
    if (!(error instanceof Error)) return undefined;
    const inner = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    const cause = new Error(redactor.string(`${error.message}${inner}`));
    cause.name = redactor.string(error.name);
    cause.stack = `${cause.name}: ${cause.message}`;
    return cause;
  } catch {
    return undefined;
  }
}

/** Whether anything was sent is told by the runtime; where it does not tell, it was. */
function parseConnectionFailure(error: unknown): ConnectionFailure {
  const chain = causesOf(error);
  for (const cause of chain) {
    const known = findByCode(cause);
    if (known) return { ...known, code: cause.code };
  }
  for (const { message } of chain) {
    const known = findFailure(message);
    if (known) return { ...known, code: "" };
  }
  return { ...failed("other", true), code: chain.find(({ code }) => code !== "")?.code ?? "" };
}

function findByCode({ code, syscall, message }: Cause): Known | undefined {
  const known = findFailure(code);
  const early = connectSyscalls.get(syscall);
  if (early) return failed(known?.reason ?? early, false);
  return known && beforeTls.test(message) ? { ...known, wasSent: false } : known;
}

function findFailure(string: string): Known | undefined {
  return knownFailures.find(([pattern]) => pattern.test(string))?.[1];
}

/** What a runtime's decompression says of a body that is not what its `Content-Encoding` names. */
const decompressionCode = /^(ERR_)?(Z|_ERROR|BROTLI|ZSTD)_/;

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
 * What a fetch of the caller's throws may be anything, and need not let itself be read.
 */
function causesOf(error: unknown): Cause[] {
  const found: Cause[] = [];
  const open: unknown[] = [error];
  while (open.length > 0 && found.length < 16) {
    const next = open.shift();
    if (!isObject(next)) continue;
    try {
      // Safe: each of them may be of any kind.
      const { code, syscall, message, cause, errors } = next as Record<string, unknown>;
      found.push({ code: stringOf(code), syscall: stringOf(syscall), message: stringOf(message) });
      open.push(cause);
      if (Array.isArray(errors)) open.push(...(errors as unknown[]).slice(0, 8));
    } catch {
      // It says nothing.
    }
  }
  return found;
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
