import { checkOption, enumOf, nonEmptyString, object } from "./json-rules.ts";
import type { MockService } from "./public-types.ts";
import type { MockContact } from "./state/organization-state.ts";
import type { Organization } from "./state/organization.ts";
import type { Organizations } from "./state/organizations.ts";

const CHANNELS = ["email", "phone", "suppressed"] as const;
const organization = nonEmptyString;
const channelRule = object({ organization, channel: enumOf("email", "phone") });
const confirmRule = object({ organization });

/** People who act at the service, without a request. */
export function people(
  current: () => Organizations,
): Pick<MockService, "unsubscribe" | "confirm" | "asksAgain"> {
  return {
    unsubscribe(person, options = {}) {
      checkOption("options", options, channelRule);
      const [contact, owner] = find(current(), person, options.organization);
      const { channel = contact.phone === person ? "phone" : "email" } = options;
      const other = channel === "email" ? "phone" : "email";
      if (contact[channel] === undefined)
        throw new TypeError(`"${person}" has no ${channel}: set channel to "${other}"`);
      owner.decide(contact, channel, "UNSUBSCRIBED");
    },
    confirm(person, options = {}) {
      checkOption("options", options, confirmRule);
      const [contact, owner] = find(current(), person, options.organization);
      if (!contact.double_opt_in || contact.email === undefined)
        throw new TypeError(`"${person}" got no mail of a double opt-in: double_opt_in was not sent`);
      if (contact.email_opt_in === "UNSUBSCRIBED")
        throw new TypeError(
          `"${person}" has no mail of a double opt-in to answer: the e-mail is UNSUBSCRIBED`,
        );
      owner.decide(contact, "email", "SUBSCRIBED");
    },
    asksAgain(person, options = {}) {
      checkOption("options", options, channelRule);
      const [contact, owner] = find(current(), person, options.organization);
      const channels = options.channel === undefined ? CHANNELS : [options.channel];
      for (const channel of channels) owner.asksAgain(contact, channel);
    },
  };
}

function find(
  organizations: Organizations,
  person: string,
  idOrApiKey: string | undefined,
): [MockContact, Organization] {
  checkOption("person", person, nonEmptyString);
  const searched =
    idOrApiKey === undefined ? organizations.organizations : [organizations.organization(idOrApiKey)];
  const found = searched.flatMap((owner): [MockContact, Organization][] => {
    const contact = owner.person(person);
    return contact ? [[contact, owner]] : [];
  });
  if (found.length > 1)
    throw new TypeError(
      `"${person}" is known to ${ids(found.map(([, owner]) => owner))}: name the organization`,
    );
  const [only] = found;
  if (only === undefined) throw new TypeError(`no contact of ${ids(searched)} is "${person}"`);
  return only;
}

function ids(organizations: readonly Organization[]): string {
  return organizations.map(({ seed }) => `"${seed.id}"`).join(", ");
}
