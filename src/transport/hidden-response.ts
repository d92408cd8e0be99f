import { ofRuntime } from "../runtime.ts";
import { diagnosticsChannel } from "./observer.ts";

/** After a 421 Node's fetch sends the request again; of a 407 it makes a failed connection without a reason (D110). */
const hiddenStatuses: readonly unknown[] = [407, 421];

/** The parts of undici's messages that are used. */
interface HeadMessage {
  readonly request: unknown;
  readonly response: { readonly statusCode: number };
}

/**
 * Starts a fetch, by an async function. If it gets a response that Node's fetch hides, `onHidden` gets a Response of its
 * status, before the request can be sent again. The two channels are part of undici's documented interface.
 */
export async function withoutHiding(
  start: () => Promise<unknown>,
  onHidden: (response: Response) => void,
): Promise<unknown> {
  let request: unknown;
  const onCreate = (message: unknown) => {
    // Safe: undici publishes its requests on this channel.
    request ??= (message as HeadMessage).request;
  };
  const onHead = (message: unknown) => {
    // Safe: undici publishes its response heads on this channel.
    const { request: of, response } = message as HeadMessage;
    if (of === request && hiddenStatuses.includes(response.statusCode))
      onHidden(new Response(null, { status: response.statusCode }));
  };
  const leaveHeads = listen("undici:request:headers", onHead);
  // Only while the fetch is started: undici creates its request synchronously, so it is that of no other call.
  const leaveCreated = listen("undici:request:create", onCreate);
  const result = start();
  leaveCreated();
  try {
    return await result;
  } finally {
    leaveHeads();
  }
}

/** Listens to a channel, where the runtime has channels. Returns the function that ends it. */
function listen(name: string, listener: (message: unknown) => void): () => void {
  // Within `ofRuntime`, as some runtimes have the module, and its functions are missing or throw.
  const channels = ofRuntime(() => {
    const module = diagnosticsChannel();
    module?.subscribe(name, listener);
    return module;
  });
  return () => void channels?.unsubscribe(name, listener);
}
