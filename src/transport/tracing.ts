import { ofRuntime } from "../runtime.ts";

type DiagnosticsChannel = typeof import("node:diagnostics_channel");

/** A tracing channel of `node:diagnostics_channel`, by which calls or attempts are published. */
export interface Tracing {
  /** Whether anyone listens. Bound stores count as subscribers. */
  readonly hasSubscribers: boolean;
  /** Runs work inside the stores that are bound to `start`. The message is completed by its end. */
  run<T>(message: object, work: () => Promise<T>): Promise<T>;
  /** Publishes the end. A message with an `error` is published as an error first. */
  end(message: object): void;
}

/**
 * Undefined on runtimes that lack or forbid `node:diagnostics_channel`. Without `tracePromise`, which would publish the
 * result, and would end an aborted attempt only with its request.
 */
export function openTracing(name: string): Tracing | undefined {
  const channel = ofRuntime(({ process }) => {
    // At run time, because a static import would fail on edge runtimes. Safe: Node's own module.
    const module = process?.getBuiltinModule?.("node:diagnostics_channel") as DiagnosticsChannel | undefined;
    return module?.tracingChannel(name);
  });
  if (!channel) return undefined;
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return {
    get hasSubscribers() {
      // Some runtimes lack the property, despite its type; publishing without subscribers does nothing.
      return (channel as { hasSubscribers?: boolean }).hasSubscribers !== false;
    },
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
}
