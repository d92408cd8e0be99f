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
  const channels = diagnosticsChannel();
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
  channels?.subscribe("undici:request:headers", onHead);
  // Only while the fetch is started: undici creates its request synchronously, so it is that of no other call.
  channels?.subscribe("undici:request:create", onCreate);
  const result = start();
  channels?.unsubscribe("undici:request:create", onCreate);
  try {
    return await result;
  } finally {
    channels?.unsubscribe("undici:request:headers", onHead);
  }
}
