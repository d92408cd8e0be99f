import type { ContactView, EventView, ListView, WebhookView } from "../page-view.ts";
import { action, type Child, clock, h, json, moments, overMark, pairs, part, span, tag } from "./elements.ts";
import type { Look } from "./items.ts";
import { act } from "./service.ts";

const nameOf = ({ contact: { email, phone, id } }: ContactView) => email ?? phone ?? id;

const consentTag = (state: string) =>
  tag(state === "SUBSCRIBED" ? "good" : state === "UNSUBSCRIBED" ? "bad" : "", state);

/** People, each with buttons for what they do at the service. */
export function contacts(organization: () => string, refresh: () => void): Look<ContactView> {
  const decide = (path: string, view: ContactView, options: object) => async () => {
    if (await act("POST", path, { person: view.contact.id, organization: organization(), ...options }))
      refresh();
  };
  const buttonsOf = (view: ContactView): Child[] => {
    const {
      email,
      phone,
      email_opt_in: optIn,
      phone_opt_in: phoneOptIn,
      double_opt_in: isAsked,
    } = view.contact;
    const unsubscribe = (channel: string) => () => void decide("unsubscribe", view, { channel })();
    return [
      email !== undefined &&
        optIn !== "UNSUBSCRIBED" &&
        action("Unsubscribes (e-mail)", unsubscribe("email")),
      phone !== undefined &&
        phoneOptIn !== "UNSUBSCRIBED" &&
        action("Unsubscribes (phone)", unsubscribe("phone")),
      email !== undefined &&
        isAsked &&
        optIn !== "UNSUBSCRIBED" &&
        action("Confirms (double opt-in)", () => void decide("confirm", view, {})()),
    ];
  };
  return {
    kind: "contacts",
    keyOf: ({ contact }) => contact.id,
    head: (view) => [
      span("operation", nameOf(view), span("sub", view.lists.join(", ") || "in no list")),
      span(
        "tags",
        ...view.consents.map(({ channel, state }) => span("", `${channel} `, consentTag(state))),
        view.contact.is_suppressed && tag("bad", "suppressed"),
        view.history.some(({ isResubscription }) => isResubscription) && overMark(),
      ),
      clock(view.contact.updated),
    ],
    body: (view) => [
      h("div", { class: "actions" }, ...buttonsOf(view)),
      h(
        "div",
        { class: "two" },
        part("Consent", ...view.consents.map(consentLine), moments(view.history)),
        part("Timeline", view.timeline.length === 0 ? "Nothing happened yet." : moments(view.timeline)),
      ),
      part("Contact", json(view.contact)),
    ],
    empty: ["No contact. A request that writes one makes it appear here."],
  };
}

function consentLine({ channel, state, since, before }: ContactView["consents"][number]): HTMLElement {
  return h(
    "p",
    {},
    `${channel}: `,
    consentTag(state),
    since === undefined ? "" : " since ",
    since === undefined ? undefined : clock(since),
    before === undefined ? "" : ` (before: ${before})`,
  );
}

export const lists: Look<ListView> = {
  kind: "lists",
  keyOf: ({ group }) => group.id,
  head: ({ group, size }) => [
    span("operation", group.name, span("sub", group.id)),
    tag("", group.type),
    span("ms", size === 1 ? "1 member" : `${size} members`),
  ],
  body: ({ group, size, members }) => [
    group.description !== undefined && h("p", {}, group.description),
    part(
      members.length < size ? `The latest ${members.length} members` : "Members",
      members.length === 0
        ? "None."
        : moments(members.map(({ contact, joinedAt }) => ({ at: joinedAt, text: contact }))),
    ),
  ],
  empty: ["No list."],
};

const callText = ({ status, error }: Pick<WebhookView, "status" | "error">) =>
  error ?? (status === undefined ? "under way" : String(status));

export const events: Look<EventView> = {
  kind: "events",
  keyOf: ({ id }) => id,
  head: ({ eventName, contact, automations, at }) => [
    span("operation", eventName, span("person", contact)),
    span("tags", ...automations.map(({ name }) => tag("good", `automation ${name}`))),
    clock(at),
  ],
  body: ({ uniqueIdentifier, eventData, automations }) => [
    pairs([["identifier", uniqueIdentifier ?? "none: sent again, it is recorded again"]]),
    eventData !== undefined && part("Data", json(eventData)),
    part(
      "Started",
      automations.length === 0 ? "No automation." : undefined,
      ...automations.map(({ name, calls }) =>
        h(
          "div",
          {},
          `automation ${name}`,
          moments(calls.map((call) => ({ at: call.sentAt, text: `webhook ${call.url}: ${callText(call)}` }))),
        ),
      ),
    ),
  ],
  empty: ["No event."],
};

export const webhooks: Look<WebhookView> = {
  kind: "webhooks",
  keyOf: ({ number, sentAt }) => `${number} ${sentAt}`,
  head: (call) => [
    span("operation", call.url, span("person", `${call.automation} for ${call.contact}`)),
    tag(call.status !== undefined && call.status < 300 ? "good" : "warn", callText(call)),
    clock(call.sentAt),
  ],
  body: ({ body }) => [part("Sent", json(body ?? "Nothing."))],
  empty: ["No webhook call. An automation of the seed with a webhook makes them."],
};
