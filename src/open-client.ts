import { parseClientOptions, type ClientOptions, type ClientSettings } from "./options.ts";
import { Redactor } from "./transport/redact.ts";
import { Session } from "./transport/session.ts";
import { Transport } from "./transport/transport.ts";

/** A client's settings, and the one transport that its families share. */
export interface OpenClient {
  readonly settings: ClientSettings;
  readonly transport: Transport;
}

/** Opens a client; or, with the session of one, another view of it. */
export function openClient(options: ClientOptions, session?: Session): OpenClient {
  const redactor = session?.redactor ?? new Redactor();
  const settings = parseClientOptions(options, redactor);
  return {
    settings,
    transport: new Transport(settings.transport, session ?? new Session(settings.limiter, redactor)),
  };
}
