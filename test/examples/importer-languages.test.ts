import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { csv, runAlone, sentBodies, service, temporaryFolder } from "./importer-fixture.ts";

/** An import by nobody who answers: what was sent, and the column's place in the map. */
async function asked(heading: string, ...cells: string[]) {
  const mock = await service();
  const lines = cells.map((cell, index) => `person-${index}@example.com,SUBSCRIBED,${cell}`);
  const path = await csv(
    await temporaryFolder(),
    "people.csv",
    `email,email_opt_in,${heading}`,
    ...lines,
    "other@example.com,SUBSCRIBED,",
  );
  const { code } = await runAlone([path]);
  const map = JSON.parse(await readFile(`${path}.map.json`, "utf8")) as { columns: Record<string, unknown> };
  return { code, sent: sentBodies(mock), column: map.columns[heading] };
}

const question = { code: 2, sent: [], column: "?" };

// The other column makes each person a subscriber. A refusal beside it is asked, not guessed.
describe("A column in which a refusal may stand is asked, and nothing is sent", () => {
  it.each([
    ["Kein Newsletter", "yes"],
    ["Newsletter abbestellt", "ja"],
    ["Permission denied", "yes"],
    ["Kontaktstatus", "abgemeldet"],
    ["Keine Werbung", "ja"],
    ["Kontaktsperre", "ja"],
    ["Mailingsperre", "x"],
    ["Remark", "Abgemeldet am 1. Mai"],
    ["Communication preferences", "No emails"],
    ["Tags", '"newsletter, unsubscribed"'],
    ["Tags", "vip|abgemeldet"],
    ["Tags", '"[""vip"",""do not email""]"'],
    ["Estado", "Dado de baja"],
    ["Estado", "No suscrito"],
    ["Stato", "Disiscritta"],
    ["État", "Désinscrite"],
    ["Remarque", "Ne plus contacter"],
    ["Remarque", "Désinscrit le 3 mars"],
    ["Fecha de baja", "03/02/2024"],
    ["Data cancellazione", "03/02/2024"],
    ["Opposition", "oui"],
    ["E-mails bloqués", "oui"],
    ["Rifiuta marketing", "sì"],
    ["Acepta publicidad", "No"],
    ["Accepte la publicité", "Non"],
  ])("%s: %s", async (heading, cell) => {
    expect(await asked(heading, cell)).toEqual(question);
  });

  it.each([
    ["Estado", "Suscrito", "Baja"],
    ["Stato", "Iscritta", "Cancellato"],
    ["État", "Abonnée", "Résilié"],
    ["Estado", "Jalisco", "Baja California"],
  ])("%s: %s and %s", async (heading, one, other) => {
    expect(await asked(heading, one, other)).toEqual(question);
  });
});
