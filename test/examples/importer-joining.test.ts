import { beforeEach, describe, expect, it } from "vitest";
import {
  csv as csvIn,
  emailConsents,
  list,
  run,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const csv = (name: string, ...lines: string[]) => csvIn(folder, name, ...lines);

const bothAre = (one: string, other: string) => ({ "a@example.com": one, "b@example.com": other });

describe("A list of those who left, beside the contacts", () => {
  const contacts = ["Email,Newsletter", "a@example.com,yes", "b@example.com,yes"];

  it.each([
    "unsubscribed.csv",
    "export-2024-unsubscribes.csv",
    "Unsubscribed subscribers.csv",
    "Opt-outs.csv",
    "sms_optouts (1).csv",
    "All suppressed profiles.csv",
    "suppression_list.csv",
    "global_unsubscribes.csv",
    "spam_reports.csv",
    "bounces.csv",
    "opt-outs and bounces.csv",
    "cleaned.csv",
    "blocklist.csv",
    "Do-not-contact.csv",
    "complaints.csv",
    "Abgemeldete Kontakte.csv",
    "Abmeldungen.csv",
    "désinscrits.csv",
    "de\u0301sabonne\u0301s.csv",
    "bajas.csv",
    "Cancelados.csv",
    "disiscritti.csv",
    "descadastrados.csv",
    "afmeldingen.csv",
  ])("is known by its name, whatever is in it: %s", async (name) => {
    const people = await csv("contacts.csv", ...contacts);
    for (const lines of [
      ["Email", "B@example.com"],
      ["Email,Opt-in,SMS opt-in", "B@example.com,Yes,no"],
    ]) {
      const left = await csv(name, ...lines);
      for (const options of [[], ["--consent", "keep"], ["--consent", "SUBSCRIBED", "--list", list.id]]) {
        const mock = await service();

        const { code, out } = await run([people, left, ...options]);

        expect(code).toBe(0);
        expect(out).toContain("By the file's name, everyone in it is UNSUBSCRIBED.");
        expect(emailConsents(mock)).toEqual(bothAre("SUBSCRIBED", "UNSUBSCRIBED"));
      }
    }
  });

  it("counts for the telephone number in its rows too", async () => {
    const mock = await service();
    const people = await csv("contacts.csv", "Email,Phone,SMS opt-in", "a@example.com,+4791234567,yes");

    await run([people, await csv("opt-outs.csv", "Phone", "+4791234567")]);

    expect(mock.organization("real").contacts).toMatchObject([
      { email: "a@example.com", email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it.each(["unconfirmed.csv", "non-subscribed.csv", "archived_members_export_ab12.csv"])(
    "is of those who have not subscribed: %s",
    async (name) => {
      const mock = await service();
      const files = [await csv("contacts.csv", ...contacts), await csv(name, "Email", "b@example.com")];

      const { code } = await run([...files, "--consent", "SUBSCRIBED"]);

      expect(code).toBe(0);
      expect(emailConsents(mock)).toEqual(bothAre("SUBSCRIBED", "NON_SUBSCRIBED"));
    },
  );

  it.each(["UNSUBSCRIBED", "NON_SUBSCRIBED"])(
    "with another name is stricter than a yes in another file, with --consent %s",
    async (consent) => {
      const left = await csv("more.csv", "Email", "b@example.com");
      const people = await csv("contacts.csv", ...contacts);
      for (const files of [
        [people, left],
        [left, people],
      ]) {
        const mock = await service();

        const { code } = await run([...files, "--consent", consent, "--list", list.id]);

        expect(code).toBe(0);
        expect(emailConsents(mock)).toEqual(bothAre("SUBSCRIBED", consent));
        expect(sentBodies(mock).map(({ email_opt_in }) => email_opt_in)).toEqual([
          "SUBSCRIBED",
          consent,
          consent,
        ]);
      }
    },
  );

  it.each([
    "contacts_without_unsubscribed.csv",
    "opt-in and opt-out.csv",
    "non-bounced.csv",
    "abonnés et désabonnés.csv",
  ])("whose name may also mean the others is not guessed: %s", async (name) => {
    const mock = await service();
    const path = await csv(name, "Email", "a@example.com");

    for (const consent of ["SUBSCRIBED", "keep"])
      expect(await run([path, "--consent", consent])).toMatchObject({
        code: 2,
        err: expect.stringContaining("its name does not say whether the people in it have left"),
      });
    expect(mock.requests).toEqual([]);

    await run([await csv(name, "Email,Newsletter", "a@example.com,yes")]);
    expect(emailConsents(mock)).toEqual({ "a@example.com": "SUBSCRIBED" });
  });

  it.each([
    "contacts.csv",
    "Baja California.csv",
    "contacts-cleaned.csv",
    "subscribers.csv",
    "Robinson Ltd.csv",
    "pedidos cancelados.csv",
  ])("is not every file: %s", async (name) => {
    const mock = await service();

    await run([await csv(name, ...contacts)]);

    expect(emailConsents(mock)).toEqual(bothAre("SUBSCRIBED", "SUBSCRIBED"));
  });
});
