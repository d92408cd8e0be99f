/** The tracing channel `audience-sdk:request`: one message object per attempt, filled in as the attempt goes on. */
export interface RequestChannels {
  readonly hasSubscribers: boolean;
  start(message: object): void;
  /** The attempt is over; a message with an `error` is published as an error first. */
  end(message: object): void;
}

interface BuiltinModules {
  getBuiltinModule?: (
    name: "node:diagnostics_channel",
  ) => typeof import("node:diagnostics_channel") | undefined;
}

/**
 * Undefined where the runtime has no `node:diagnostics_channel`. Asked for at run time, as a static import would keep
 * the package from loading on edge runtimes. Published by hand: `tracePromise` would publish the call's result.
 */
export function requestChannels(): RequestChannels | undefined {
  const { process } = globalThis as { process?: BuiltinModules };
  const channel = process
    ?.getBuiltinModule?.("node:diagnostics_channel")
    ?.tracingChannel?.("audience-sdk:request");
  if (!channel) return undefined;
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return {
    get hasSubscribers() {
      // Not every runtime says so, whatever its types; to publish where nobody listens does nothing.
      return (channel as { hasSubscribers?: boolean }).hasSubscribers !== false;
    },
    start(message) {
      start.publish(message);
      end.publish(message);
    },
    end(message) {
      if ("error" in message) error.publish(message);
      asyncStart.publish(message);
      asyncEnd.publish(message);
    },
  };
}
