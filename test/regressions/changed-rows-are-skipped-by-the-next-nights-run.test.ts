import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it } from "vitest";
import { rows, createFixture, type Row } from "../bulk/fixture.ts";

it.each([
  ["with a key", { key: ({ email }: Row) => email }],
  ["without a key", {}],
])(
  "%s, rows that change to UNSUBSCRIBED the next day are sent, and so are rows that change back the day after",
  async (_, options) => {
    const folder = await mkdtemp(join(tmpdir(), "nightly-"));
    const { audience, mock, upsert } = createFixture();
    const checkpoint = fileCheckpoint(join(folder, "import.ckpt"));
    const [monday, tuesday] = (["SUBSCRIBED", "UNSUBSCRIBED"] as const).map((email_opt_in) =>
      rows(10).map((row): Row => ({ ...row, email_opt_in })),
    );

    for (const day of [monday!, tuesday!, monday!, tuesday!])
      expect(await audience.bulk(day, upsert, { ...options, checkpoint })).toMatchObject({ succeeded: 10 });

    const { contacts } = mock.organization("mock-organization");
    expect(contacts.map(({ email_opt_in }) => email_opt_in)).toEqual(rows(10).map(() => "UNSUBSCRIBED"));
    await rm(folder, { recursive: true });
  },
);
