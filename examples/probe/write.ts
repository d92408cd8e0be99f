import { randomUUID } from "node:crypto";
import { isAudienceError, type AudienceClient, type CallOptions, type ProfileAttributes } from "audience-sdk";

/** What the writes have shown. */
export interface Written {
  /** The profile after a write of both opt-ins as `UNSUBSCRIBED`. */
  readonly before?: ProfileAttributes;
  /** The profile after a write without opt-ins. */
  readonly after?: ProfileAttributes;
  /** The response to an event. */
  readonly event?: { readonly status: number; readonly body: unknown };
  /** What failed. */
  readonly problems: readonly string[];
}

/**
 * Writes one contact three times, and sends it one event. The first and the last write state `UNSUBSCRIBED`: whatever
 * happens in between, the contact is subscribed to nothing in the end.
 */
export async function writeOwnContact(
  audience: AudienceClient,
  email: string,
  options: Pick<CallOptions, "headers" | "signal">,
): Promise<Written> {
  const { customers, events } = audience.v1;
  const problems: string[] = [];
  const attempt = async <Value>(call: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (!isAudienceError(error) || error.code === "aborted") throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const unsubscribed = { email, email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" } as const;

  const before = await attempt(() => customers.upsert(unsubscribed, options));
  if (before === undefined) return { problems };
  let after;
  try {
    after = await attempt(() => customers.upsert({ email }, options));
  } finally {
    // Without the signal: Ctrl-C must not leave the contact subscribed.
    const last = await attempt(() => customers.upsert(unsubscribed, { headers: options.headers }));
    if (last === undefined)
      problems.push("The contact may be SUBSCRIBED now: unsubscribe it in the dashboard.");
  }
  const event = await attempt(() =>
    events.send(
      { eventName: "audience_sdk_probe", uniqueIdentifier: `probe-${randomUUID()}`, contact: { email } },
      options,
    ),
  );
  return {
    before: before.attributes,
    ...(after && { after: after.attributes }),
    ...(event && { event }),
    problems,
  };
}
