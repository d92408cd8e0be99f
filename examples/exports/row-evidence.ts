import type { Channel, ConsentEvidence } from "./contact.ts";
import type { CsvRow } from "./csv-row.ts";
import type { Column, FilePlan } from "./file-plan.ts";

const evidenceColumns: Readonly<Record<string, RegExp>> = {
  mailchimp: /^(optin|confirm)(time|ip)$/,
  klaviyo: /^(email|sms)marketingconsenttimestamp$/,
};

/** The columns that are added for the import. */
export const ownEvidence: ReadonlyMap<string, keyof ConsentEvidence> = new Map([
  ["consentcreatedat", "createdAt"],
  ["consentip", "ip"],
  ["consentsource", "source"],
]);

/** Whether the provider's column holds evidence of consent, which v2 requires. */
export function isEvidence({ compact }: Pick<Column, "compact">, provider: FilePlan["provider"]): boolean {
  return provider !== undefined && (evidenceColumns[provider]?.test(compact) ?? false);
}

/** The evidence of consent from the provider's columns; columns added for the import come first. */
export function evidenceIn(plan: FilePlan, row: CsvRow): Readonly<Record<Channel, ConsentEvidence>> {
  const added: Record<string, string | undefined> = {};
  const cells = new Map<string, string | undefined>();
  for (const { use, index, compact } of plan.columns) {
    const text = row.cell(index);
    const of = ownEvidence.get(compact);
    if (of !== undefined) added[of] ??= text;
    else if (use.kind === "property") cells.set(compact, text);
  }
  const of = (own: ConsentEvidence): ConsentEvidence => ({ ...own, ...definedIn(added) });
  const { provider } = plan;
  const source = provider === undefined ? {} : { source: provider };
  if (provider === "mailchimp") {
    // The confirmation, where there was one; else the form. Time and address of one and the same moment.
    const moment =
      cells.get("confirmtime") !== undefined && cells.get("confirmip") !== undefined ? "confirm" : "optin";
    return {
      email: of({ createdAt: isoTime(cells.get(`${moment}time`)), ip: cells.get(`${moment}ip`), ...source }),
      phone: of(source),
    };
  }
  // Klaviyo's "IP Address" is the profile's, and not said to be the one that consent came from.
  const time = (channel: string) => ({
    createdAt: isoTime(cells.get(`${channel}marketingconsenttimestamp`)),
  });
  return { email: of({ ...time("email"), ...source }), phone: of({ ...time("sms"), ...source }) };
}

const isoTime = (text: string | undefined) => text?.replace(" ", "T");

function definedIn(record: Record<string, string | undefined>): ConsentEvidence {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
