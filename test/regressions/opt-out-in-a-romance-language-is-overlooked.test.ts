import { expect, it } from "vitest";
import { csv, emailConsents, run, service, temporaryFolder } from "../examples/importer-fixture.ts";

const imported = async (...lines: string[]) => {
  const mock = await service();
  const { code } = await run([await csv(await temporaryFolder(), "people.csv", ...lines)]);
  return { code, consents: emailConsents(mock) };
};

// Words of a person's cell, whatever the heading. The yes of another column made each of them a subscriber.
it.each([
  ["Estado", "Dado de baja"],
  ["Estado", "Dada de baja"],
  ["Estado", "No suscrito"],
  ["Estado", "Desuscrita"],
  ["Estado", "No contactar"],
  ["Stato", "Non iscritto"],
  ["Stato", "Disiscritta"],
  ["Stato", "Non contattare"],
  ["État", "Désinscrite"],
  ["Remarque", "Désinscrit le 3 mars"],
  ["Remarque", "Non abonnée"],
  ["Remarque", "Ne plus contacter"],
])("%s: %s is no opt-in beside a yes", async (heading, cell) => {
  const { code, consents } = await imported(`email,newsletter,${heading}`, `ada@example.com,yes,${cell}`);

  expect(code).toBe(0);
  expect(consents["ada@example.com"]).toMatch(/^(UN|NON_)SUBSCRIBED$/);
});

it.each([
  ["Fecha de baja", "03/02/2024"],
  ["Data cancellazione", "03/02/2024"],
  ["Opposition", "oui"],
  ["E-mails bloqués", "oui"],
  ["Rifiuta marketing", "sì"],
  ["Rechaza publicidad", "sí"],
  ["Non contattare", "sì"],
  ["Acepta publicidad", "No"],
  ["Accetta pubblicità", "No"],
  ["Accepte la publicité", "Non"],
])("%s: %s is an opt-out", async (heading, cell) => {
  const { code, consents } = await imported(`email,newsletter,${heading}`, `ada@example.com,yes,${cell}`);

  expect({ code, consents }).toEqual({ code: 0, consents: { "ada@example.com": "UNSUBSCRIBED" } });
});

it.each([
  ["Estado", "Suscrito", "Baja"],
  ["Estado", "Suscrita", "Cancelado"],
  ["Stato", "Iscritta", "Cancellato"],
  ["État", "Abonnée", "Résilié"],
])("Under %s, whose first word is %s, %s is no opt-in", async (heading, first, word) => {
  const { consents } = await imported(
    `email,newsletter,${heading}`,
    `ann@example.com,yes,${first}`,
    `ada@example.com,yes,${word}`,
  );

  expect(consents["ada@example.com"]).not.toBe("SUBSCRIBED");
});

it("A column of states of a country is none of consents", async () => {
  const { code, consents } = await imported(
    "email,newsletter,Estado",
    "ann@example.com,yes,Jalisco",
    "ada@example.com,yes,Baja California",
  );

  expect({ code, consents }).toEqual({
    code: 0,
    consents: { "ann@example.com": "SUBSCRIBED", "ada@example.com": "SUBSCRIBED" },
  });
});
