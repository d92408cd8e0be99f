import type { BulkRequest, V1Contact, V1OptIn } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "./fixture.ts";

/** What a write states of Ada's channels; null names her by the channel, and leaves the consent to the service. */
interface Stated {
  readonly email?: V1OptIn | null;
  readonly phone?: V1OptIn | null;
}

const [yes, no, none] = ["SUBSCRIBED", "UNSUBSCRIBED", "NON_SUBSCRIBED"] as const;

/** An import of one row, night after night. Other calls write after the row has ended, and before its run has. */
function createImport() {
  const { audience, mock } = createFixture();
  const { customers } = audience.v1;
  const checkpoint = new LoggedCheckpoint();
  const options = { checkpoint, stopWhen: () => false };
  let nights = 0;
  const bodyOf = ({ email, phone }: Stated): V1Contact => ({
    ...(email !== undefined && { email: "ada@example.com", ...(email && { email_opt_in: email }) }),
    ...(phone !== undefined && { phone: "+15550100", ...(phone && { phone_opt_in: phone }) }),
  });
  /** `calls`: how the row's writes are split. */
  const night = async (
    calls: readonly Stated[],
    {
      writes = [],
      isRefused = false,
      isCurrent = true,
      isLeft = false,
      isAbsent = false,
      row,
    }: NightOptions = {},
  ) => {
    nights += 1;
    if (isRefused) mock.addFault({ kind: "redirect", times: 1 });
    const send = async (_: unknown, request: BulkRequest) => {
      for (const stated of calls)
        await customers.upsert({ ...bodyOf(stated), first_name: `Ada ${nights}` }, request);
    };
    const ends: string[] = [];
    for await (const { status } of audience.bulk([row ?? nights], send, {
      ...options,
      key: () => (isAbsent ? "another" : "ada"),
      isCurrent: () => isCurrent,
    })) {
      ends.push(status);
      for (const stated of writes) await customers.upsert(bodyOf(stated));
      if (isLeft) break;
    }
    return ends.join();
  };
  const state = () => mock.organization("mock-organization").contacts[0];
  const record = () => checkpoint.values.get("row:ada")!;
  return { night, state, record };
}

interface NightOptions {
  readonly writes?: readonly Stated[];
  /** The first write of the row is refused. */
  readonly isRefused?: boolean;
  readonly isCurrent?: boolean;
  /** The run is ended before its end: the next night continues it. */
  readonly isLeft?: boolean;
  /** The run has another row instead. */
  readonly isAbsent?: boolean;
  /** Default: another one each night. */
  readonly row?: string;
}

it("a channel that the row lacked for a night is no newer than before", async () => {
  const { night, state } = createImport();
  await night([{ email: yes, phone: yes }]);
  await night([{ email: yes }], { writes: [{ phone: no }] });

  expect(await night([{ email: yes, phone: yes }])).toBe("superseded");
  expect(state()).toMatchObject({ email_opt_in: yes, phone_opt_in: no });
});

it("a channel that the row states for the first time is new, also after a night without it", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }]);
  await night([{ email: yes }], { writes: [{ phone: yes }] });

  expect(await night([{ email: yes, phone: no }])).toBe("succeeded");
  expect(state()).toMatchObject({ phone_opt_in: no });
});

it("a channel that is new after a success is new, though an earlier night did not reach all calls", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }], { isRefused: true });
  await night([{ email: yes }], { writes: [{ phone: yes }] });

  expect(await night([{ email: yes, phone: no }])).toBe("succeeded");
  expect(state()).toMatchObject({ phone_opt_in: no });
});

it("a channel that no night has reached is as old as the first of them", async () => {
  const { night, state } = createImport();
  await night([{ phone: yes }, { email: yes }], { isRefused: true, writes: [{ email: no }] });
  await night([{ phone: yes }, { email: yes }], { isRefused: true });

  expect(await night([{ phone: yes }, { email: yes }])).toBe("superseded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it("a status that comes back is as new as another one", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }]);
  await night([{ email: none }], { writes: [{ email: no }] });

  expect(await night([{ email: yes }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: yes });
});

it("a status that comes back is as new as another one, though a call of the row left the consent to the service", async () => {
  const { night, state } = createImport();
  await night([{ email: no }]);
  await night([{ email: null }, { email: yes }], { writes: [{ email: none }] });

  expect(await night([{ email: no }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it("another channel that is new does not make an old status newer", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }], { writes: [{ email: no }] });

  expect(await night([{ email: yes, phone: yes }])).toBe("superseded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it("a row that states no consent is sent after a success that is later than the other write", async () => {
  const { night, state } = createImport();
  await night([{ email: no }]);
  await night([{ email: no }], { writes: [{ email: no }] });
  expect(await night([{ email: no }])).toBe("succeeded");

  expect(await night([{ email: null }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: no, first_name: "Ada 4" });
});

it("a row that states no consent is superseded by a write that is later than its last success", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }], { writes: [{ email: no }] });

  expect(await night([{ email: null }])).toBe("superseded");
  expect(await night([{ email: null }])).toBe("superseded");
  expect(state()).toMatchObject({ email_opt_in: no, first_name: "Ada 1" });
});

it("a row that was not current stays superseded, night after night, until its own consent changes", async () => {
  const { night, state } = createImport();
  expect(await night([{ email: yes }], { isCurrent: false })).toBe("superseded");
  expect(await night([{ email: yes }])).toBe("superseded");
  expect(await night([{ email: yes }])).toBe("superseded");
  expect(await night([{ email: yes, phone: null }])).toBe("superseded");

  expect(await night([{ email: none }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: none });
});

it("a row that is twice not current stays superseded from the later night on", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }], { isCurrent: false });
  await night([{ email: none }], { isCurrent: false });

  expect(await night([{ email: none }])).toBe("superseded");
  expect(state()).toBeUndefined();
});

it("a decision that changed after a run was ended early is bound by the run that continues, and free after it", async () => {
  const { night, state } = createImport();
  await night([{ email: none }], { writes: [{ email: yes }], isLeft: true });

  expect(await night([{ email: no }])).toBe("superseded");
  expect(await night([{ email: no }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it("a row that the run had not met before it was ended early stays bound until its own consent changes", async () => {
  const { night, state } = createImport();
  await night([], { writes: [{ email: no }], isLeft: true });

  expect(await night([{ email: yes }], { isLeft: true })).toBe("superseded");
  expect(await night([{ email: yes }])).toBe("superseded");
  expect(await night([{ email: yes }])).toBe("superseded");
  expect(await night([{ email: none }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: none });
});

it("a changed row that the run had not met before it was ended early stays bound until it changes again", async () => {
  const { night, state } = createImport();
  await night([{ email: yes }]);
  await night([], { isAbsent: true, writes: [{ email: no }], isLeft: true });

  expect(await night([{ email: none }])).toBe("superseded");
  expect(await night([{ email: none }])).toBe("superseded");
  expect(await night([{ email: yes }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: yes });
});

it("a decision that changed after a run was ended early is free after it, also if the row does not change again", async () => {
  const { night, state } = createImport();
  await night([{ email: none }], { writes: [{ email: yes }], isLeft: true });
  expect(await night([{ email: no }], { row: "the last" })).toBe("superseded");

  expect(await night([{ email: no }], { row: "the last" })).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it.each([
  ["opt-in", yes, none],
  ["weaker status", none, yes],
])(
  "an %s that changed in a run that was ended early stays bound after it, until it changes again",
  async (_, changed, other) => {
    const { night, state } = createImport();
    await night([{ email: other }], { isLeft: true });
    await night([], { isAbsent: true, writes: [{ email: no }], isLeft: true });

    expect(await night([{ email: changed }])).toBe("superseded");
    expect(await night([{ email: changed }])).toBe("superseded");
    expect(await night([{ email: changed, phone: null }])).toBe("superseded");
    expect(state()).toMatchObject({ email_opt_in: no });
    expect(await night([{ email: other }])).toBe("succeeded");
    expect(state()).toMatchObject({ email_opt_in: other });
  },
);

it("a refusal that changed in a run that was ended early is free after it, and another channel's opt-in is not", async () => {
  const { night, state } = createImport();
  await night([{ email: yes, phone: none }], { isLeft: true });
  await night([], { isAbsent: true, writes: [{ email: none, phone: no }], isLeft: true });

  expect(await night([{ email: no, phone: yes }])).toBe("superseded");
  expect(await night([{ email: no, phone: yes }])).toBe("superseded");
  expect(state()).toMatchObject({ email_opt_in: none, phone_opt_in: no });
});

it("a decision that changed after a failure in a run that was ended early is free after it", async () => {
  const { night, state } = createImport();
  await night([{ email: none }]);
  await night([{ email: none }], { isRefused: true, writes: [{ email: yes }], isLeft: true });
  expect(await night([{ email: no }])).toBe("superseded");

  expect(await night([{ email: no }])).toBe("succeeded");
  expect(state()).toMatchObject({ email_opt_in: no });
});

it.each([
  ["fails", { isRefused: true }],
  ["is not current", { isCurrent: false }],
])("the record of a row that %s night after night grows no longer", async (_, options) => {
  const { night, record } = createImport();
  const nights = async (count: number) => {
    for (let number = 0; number < count; number += 1)
      await night([{ email: number % 2 === 0 ? yes : none }], options);
    return record().length;
  };
  const before = await nights(10);

  expect(await nights(6)).toBe(before);
});
