import { ofRuntime } from "../runtime.ts";
import { diagnosticsChannel } from "./tracing.ts";

/** After a 421 Node's fetch sends the request again; of a 407 it makes a failed connection without a reason (D110). */
const hiddenStatuses: readonly unknown[] = [407, 421];

/** The parts of undici's messages that are used. */
interface HeadMessage {
  readonly request: unknown;
  readonly response: { readonly statusCode: number };
}

/** Called with a Response of its status for each request that is under way, by undici's object of it. */
const tellers = new Map<unknown, (response: Response) => void>();
/** What the fetch that is being started has created. */
let starting: { request?: unknown } | undefined;
let underWay = 0;
let leave = (): void => {};

function onCreate(message: unknown): void {
  // Safe: undici publishes its requests on this channel.
  if (starting) starting.request ??= (message as HeadMessage).request;
}

function onHead(message: unknown): void {
  // Safe: undici publishes its response heads on this channel.
  const { request, response } = message as HeadMessage;
  if (hiddenStatuses.includes(response.statusCode))
    tellers.get(request)?.(new Response(null, { status: response.statusCode }));
}

/**
 * Starts a fetch, by an async function. If it gets a response that Node's fetch hides, `onHidden` gets a Response of its
 * status, before the request can be sent again. The two channels are part of undici's documented interface. All requests
 * under way share one listener: each subscription copies the list of those before it.
 */
export async function withoutHiding(
  start: () => Promise<unknown>,
  onHidden: (response: Response) => void,
): Promise<unknown> {
  if (underWay === 0) {
    const leaves = [listen("undici:request:headers", onHead), listen("undici:request:create", onCreate)];
    leave = () => leaves.forEach((end) => end());
  }
  underWay += 1;
  // Only while the fetch is started: undici creates its request synchronously, so it is that of no other call.
  const [own, outer]: [{ request?: unknown }, typeof starting] = [{}, starting];
  starting = own;
  const result = start();
  starting = outer;
  const { request } = own;
  if (request !== undefined) tellers.set(request, onHidden);
  try {
    return await result;
  } finally {
    tellers.delete(request);
    underWay -= 1;
    if (underWay === 0) leave();
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
