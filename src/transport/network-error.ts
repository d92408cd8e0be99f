import * as z from "zod";
import { ConnectionError, type ConnectionFailureReason } from "../errors.ts";
import type { Redactor } from "./redact.ts";

/**
 * The error codes of Node (sockets, resolver, undici, OpenSSL) and Bun, and the messages of errors without a code (Deno, Node's fetch),
 * with `reason` and `wasSent`. The first match counts.
 */
const knownFailures: readonly (readonly [RegExp, ConnectionFailureReason, boolean])[] = [
  [/^(ECONNREFUSED|ConnectionRefused)$|connection refused/i, "refused", false],
  [/^(ENOTFOUND|EAI_\w+|FailedToOpenSocket)$|dns error|failed to lookup address/i, "dns", false],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|ConnectionClosed|UND_ERR_SOCKET)$|connection (was )?reset|connection closed before message completed|broken pipe/i,
    "reset",
    true,
  ],
  // fetch blocks the ports of other protocols, such as 6000.
  [/^UND_ERR_CONNECT_TIMEOUT$|^bad port$/, "other", false],
  // An unreadable record occurs in the middle of a connection.
  [/^ERR_SSL_.*BAD_RECORD_MAC/, "tls", true],
  // Certificates are rejected before a request is written.
  [/^(ERR_TLS_|ERR_SSL_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)|CERT|[Cc]ertificate/, "tls", false],
];

/** Syscalls before a connection exists: their failures sent nothing, whatever the code. */
const connectSyscalls: readonly string[] = ["connect", "getaddrinfo"];

/** A proxy that opens no connection to the service, in undici's words: it was given the host's name and nothing else. */
const tunnelRefusal = /^Proxy response \((\d+)\) !== 200 when HTTP Tunneling$/;

/** The message of a TLS connection that was never made: Node gives it the code of a reset connection. */
const beforeTls = /before secure TLS connection was established/;

/** The error for a runtime's network error. Its properties are dropped: they may hold the request and its key. */
export function connectionError(
  error: unknown,
  url: string,
  { redactor, hasResponse }: { redactor: Redactor; hasResponse: boolean },
): ConnectionError {
  const { reason, ...failure } = parseConnectionFailure(error);
  // Whatever its body broke off with, a response shows that the request was sent.
  const wasSent = failure.wasSent || hasResponse;
  // A custom fetch may put the key into its errors.
  const code = redactor.string(failure.code);
  // An id in the path may be an e-mail address.
  const { origin } = new URL(url);
  const suffix = code ? ` (${code})` : "";
  return new ConnectionError({
    message: wasSent
      ? `The connection to ${origin} failed before the complete response was received${suffix}.`
      : `No connection to ${origin} could be made${suffix}; this attempt sent nothing.`,
    outcome: wasSent ? "unknown" : "not-sent",
    reason,
    cause: safeCause(error, redactor),
  });
}

function safeCause(error: unknown, redactor: Redactor): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const cause = new Error(redactor.string(`${error.message}${inner}`));
  cause.name = redactor.string(error.name);
  cause.stack = `${cause.name}: ${cause.message}`;
  return cause;
}

/**
 * What a runtime's error says of the connection; an unknown failure counts as sent. `code`: the runtime's, such as
 * `ECONNREFUSED`, or a proxy's response; empty if there is none.
 */
function parseConnectionFailure(error: unknown): {
  reason: ConnectionFailureReason;
  wasSent: boolean;
  code: string;
} {
  const causes = causesOf(error);
  for (const { code, syscall, message } of causes) {
    const known = findKnownFailure(code);
    const isEarly = connectSyscalls.includes(syscall);
    if (!known && !isEarly) continue;
    const [, reason, wasSent] = known ?? ["", "other" as const, false];
    return { reason, wasSent: wasSent && !isEarly && !beforeTls.test(message), code };
  }
  for (const { message } of causes) {
    const status = tunnelRefusal.exec(message)?.[1];
    if (status) return { reason: "other", wasSent: false, code: `the proxy responded ${status}` };
    const known = findKnownFailure(message);
    if (known) return { reason: known[1], wasSent: known[2], code: "" };
  }
  return { reason: "other", wasSent: true, code: causes.find(({ code }) => code !== "")?.code ?? "" };
}

function findKnownFailure(codeOrMessage: string) {
  return knownFailures.find(([pattern]) => pattern.test(codeOrMessage));
}

/** The error codes of bodies that do not match their `Content-Encoding`. */
const decompressionCode = /^(ERR_)?(Z|_ERROR|BROTLI|ZSTD)_/;

/** Whether a complete body cannot be decompressed: a retry would not help. */
export function isUndecodable(error: unknown): boolean {
  return causesOf(error).some(({ code }) => decompressionCode.test(code));
}

const errorText = z.string().catch("");

/** The parts of a runtime's error that are used. */
const errorSchema = z.object({
  code: errorText,
  syscall: errorText,
  message: errorText,
  cause: z.unknown().optional(),
  errors: z.array(z.unknown()).catch([]),
});

/**
 * The error, its causes, and the errors of an AggregateError (several addresses); at most 16, as the chain may be a cycle.
 * A custom fetch may throw any value.
 */
function causesOf(error: unknown) {
  const causes: z.output<typeof errorSchema>[] = [];
  const unread = [error];
  while (unread.length > 0 && causes.length < 16) {
    const { success, data } = errorSchema.safeParse(unread.shift());
    if (!success) continue;
    causes.push(data);
    unread.push(data.cause, ...data.errors.slice(0, 8));
  }
  return causes;
}
