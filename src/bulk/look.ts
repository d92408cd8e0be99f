import { isAudienceError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareCall } from "../transport/transport.ts";
import { getCustomer } from "../v1/customers.ts";
import type { Profile } from "../v1/schemas/profile.ts";
import { v1Access } from "../v1/v1-client.ts";
import { rowCallOptions } from "./bulk-options.ts";

/** Asks the service for a contact: undefined if it has none with the id. */
export type Look = (id: string, signal: AbortSignal) => Promise<Profile | undefined>;

/** Undefined without a v1 family: only v1 shows a contact. `stop`: the end of the run. */
export function lookOf(
  { settings, transport }: OpenedClient,
  stop: AbortSignal,
  countCall: () => void,
): Look | undefined {
  if (!settings.families.some(({ name }) => name === "v1")) return undefined;
  const access = v1Access(settings);
  // It waits for the rate limit as its row does.
  const gate = { stop, enter: async () => {}, isOpen: () => true };
  return async (id, signal) => {
    countCall();
    const call = prepareCall(getCustomer, { params: { id } }, { access, settings: settings.call });
    try {
      // Safe: its endpoint has decoded it.
      return (await transport.send(call, { ...rowCallOptions, gate, signal })) as Profile;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  };
}

/** A 404 without a JSON body comes from a gateway, and says nothing of a contact. */
function isGone(error: unknown): boolean {
  if (!isAudienceError(error) || error.code !== "not_found") return false;
  return typeof error.body === "object" && error.body !== null;
}
