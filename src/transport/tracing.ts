import type { Outcome } from "../errors.ts";
import { ofRuntime } from "../runtime.ts";
import { identityOf, type CallContext } from "./call-outcome.ts";
import { errorSummary, type AttemptDetails, type Observer, type RequestEvent } from "./observer.ts";

type DiagnosticsChannel = typeof import("node:diagnostics_channel");

/** A tracing channel of `node:diagnostics_channel`, by which calls or attempts are published. */
export interface TracingChannel {
  /** Runs work inside the stores that are bound to `start`. The message is completed by its end. */
  run<T>(message: object, work: () => Promise<T>): Promise<T>;
  /** Publishes the end. A message with an `error` is published as an error first. */
  end(message: object): void;
}

/**
 * Gives the channel while anyone listens: bound stores count as subscribers. Nothing is published on runtimes that lack or forbid
 * `node:diagnostics_channel`. `tracePromise` is not used: it would publish the result, and would end an aborted attempt only with
 * its request.
 */
export function openTracing(name: string): () => TracingChannel | undefined {
  const channel = ofRuntime(({ process }) => {
    // At run time, because a static import would fail on edge runtimes. Safe: Node's own module.
    const module = process?.getBuiltinModule?.("node:diagnostics_channel") as DiagnosticsChannel | undefined;
    return module?.tracingChannel(name);
  });
  if (!channel) return () => undefined;
  const { start, end, asyncStart, asyncEnd, error } = channel;
  const tracing: TracingChannel = {
    run(message, work) {
      return start.runStores(message, () => {
        const result = work();
        end.publish(message);
        return result;
      });
    },
    end(message) {
      if ("error" in message) error.publish(message);
      asyncStart.publish(message);
      asyncEnd.publish(message);
    },
  };
  // Some runtimes lack the property, despite its type; publishing without subscribers does nothing.
  return () => ((channel as { hasSubscribers?: boolean }).hasSubscribers === false ? undefined : tracing);
}

/** Publishes a call, from its validation to its end, which completes the message. */
export async function traceCall<T>(
  context: CallContext,
  channel: TracingChannel,
  call: () => Promise<T>,
): Promise<T> {
  const message = identityOf(context);
  const callStartedAt = performance.now();
  const publishEnd = (ending: { outcome: Outcome; error?: RequestEvent["error"] }) => {
    const durationMs = performance.now() - callStartedAt;
    const costs = { attempts: context.attempts, queuedMs: context.queuedMs, durationMs };
    channel.end(Object.assign(message, costs, ending));
  };
  try {
    const result = await channel.run(message, async () => await call());
    publishEnd({ outcome: context.method === "GET" ? "not-applied" : "applied" });
    return result;
  } catch (error) {
    publishEnd({ outcome: context.outcome, error: errorSummary(error) });
    throw error;
  }
}

/** An attempt from its start to its end, as hooks, logger and the channel `audience-sdk:request` are told of it. */
export class AttemptSpan {
  readonly #context: CallContext;
  readonly #observer: Observer;
  readonly #channel: TracingChannel | undefined;
  readonly #message: object;
  readonly #attemptStartedAt: number;
  readonly #details: AttemptDetails;

  /** The attempt is sent. */
  constructor(context: CallContext, observer: Observer, channel: TracingChannel | undefined) {
    this.#context = context;
    this.#observer = observer;
    this.#details = { attempt: ++context.attempts };
    this.#channel = channel;
    this.#message = channel ? { ...identityOf(context), ...this.#details } : {};
    this.#attemptStartedAt = performance.now();
    observer.report(context, this.#details, "is sent", { hook: "onRequest" });
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#channel ? this.#channel.run(this.#message, work) : work();
  }

  /** The first end of an attempt counts: an aborted one has ended for its caller, though its request continues (D44). */
  end(status: number | undefined, error?: unknown): void {
    const details = this.#details;
    if (details.durationMs !== undefined) return;
    details.durationMs = performance.now() - this.#attemptStartedAt;
    if (status !== undefined) details.status = status;
    if (error) details.error = errorSummary(error);
    const how = status ? `got ${status}` : `failed: ${details.error?.name}`;
    const text = `${how} in ${Math.round(details.durationMs)} ms`;
    this.#observer.report(this.#context, details, text, { hook: status ? "onResponse" : undefined });
    this.#channel?.end(Object.assign(this.#message, details));
  }
}
