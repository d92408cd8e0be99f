import { parseClientOptions, type ClientOptions, type ClientSettings } from "../options.ts";
import { createClientState, type ClientState } from "./client-state.ts";
import { Redactor } from "./redact.ts";
import { Transport } from "./transport.ts";

/** A client's settings, and the transport that its families share. */
export interface OpenClient {
  readonly settings: ClientSettings;
  readonly transport: Transport;
}

/** Opens a client, or with the state of a client another view of it. */
export function openClient(options: ClientOptions, state?: ClientState): OpenClient {
  const redactor = state?.redactor ?? new Redactor();
  const settings = parseClientOptions(options, redactor);
  return {
    settings,
    transport: new Transport(settings.transport, state ?? createClientState(settings.limiter, redactor)),
  };
}
