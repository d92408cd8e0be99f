import { AudienceClient } from "audience-sdk";
import {
  ClickUndone,
  everyClick,
  type EveryClickOptions,
  type MockContactSeed,
  type MockService,
} from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { acme, globex } from "../document/service.ts";

const ada = { id: "a1", email: "ada@example.com", phone: "+15550100" };
const bob = { id: "b1", email: "bob@example.com" };
const subscribed = { email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED" } as const;
const organization = { ...acme, automations: [] };
const both = [
  { ...ada, ...subscribed },
  { ...bob, email_opt_in: "SUBSCRIBED" },
] as const;

const seeded = (contacts: readonly MockContactSeed[] = both): EveryClickOptions => ({
  mock: { organizations: [{ ...organization, contacts: [...contacts] }] },
});
const clientOf = (mock: MockService) => new AudienceClient(mock.clientOptions).v1;
type Job = (mock: MockService) => Promise<unknown>;
/** Writes an opt-in without a look. */
const subscribe = (mock: MockService, person: { email: string } = ada) =>
  clientOf(mock).customers.upsert({ email: person.email, email_opt_in: "SUBSCRIBED" });

async function foundIn(job: Job, options: EveryClickOptions = seeded()): Promise<ClickUndone> {
  const error: unknown = await everyClick(job, options).catch((found: unknown) => found);
  if (error instanceof ClickUndone) return error;
  throw new Error("no click was found", { cause: error });
}

const clickOf = ({ person, click, undoneBy }: ClickUndone) => [
  person,
  click.request?.number ?? click.when,
  undoneBy?.number,
];

/** Looks at each person directly before her writes, and sends nothing of one who has left. */
const lookThenWrite: Job = async (mock) => {
  const { customers } = clientOf(mock);
  for (const { id, email } of [ada, bob]) {
    const { attributes } = await customers.get(id);
    if (attributes.email_opt_in !== "UNSUBSCRIBED")
      await customers.upsert({ email, email_opt_in: "SUBSCRIBED", city: "Rome" });
  }
};

describe("everyClick, a planted bug", () => {
  it("an upsert with an opt-in of yesterday is found, with a click before the first request", async () => {
    const found = await foundIn((mock) => subscribe(mock));

    expect(clickOf(found)).toEqual([ada.email, "before-first", 1]);
    expect(found.entry).toMatchObject({
      contactId: "a1",
      channel: "email",
      from: "UNSUBSCRIBED",
      to: "SUBSCRIBED",
      by: "v1.customers.upsert",
    });
  });

  it("a retry of an old opt-in is found, though the first attempt was right", async () => {
    const faults = [{ kind: "500-after", operation: "v1.customers.upsert", times: 1 }] as const;
    const options = seeded([{ ...ada, ...subscribed }]);
    const found = await foundIn(
      async (mock) => {
        const { customers } = clientOf(mock);
        const { attributes } = await customers.get("a1");
        if (attributes.email_opt_in === "UNSUBSCRIBED") return;
        const write = () =>
          customers.upsert({ email: ada.email, email_opt_in: "SUBSCRIBED" }, { maxRetries: 0 });
        await write().catch(write);
      },
      { mock: { ...options.mock, faults } },
    );

    // Before request 2 it is between look and write; the second write is one too many.
    expect(clickOf(found)).toEqual([ada.email, 3, 3]);
  });

  it("NON_SUBSCRIBED over a refusal is found", async () => {
    const found = await foundIn((mock) =>
      clientOf(mock).customers.upsert({ email: bob.email, email_opt_in: "NON_SUBSCRIBED" }),
    );

    expect(clickOf(found)).toEqual([bob.email, "before-first", 1]);
    expect(found.entry).toMatchObject({ from: "UNSUBSCRIBED", to: "NON_SUBSCRIBED" });
    expect(found.message).toBe(
      "if bob@example.com unsubscribes (email) before the first request, " +
        "request 1 (v1.customers.upsert, POST /api/v1/customer/create) writes NON_SUBSCRIBED over it",
    );
  });

  it("one in the second of two organizations is found, and not of the person's namesake in the first", async () => {
    const organizations = [
      { ...organization, contacts: [both[1]] },
      { ...globex, contacts: [both[1]] },
    ];
    const found = await foundIn(
      (mock) => {
        const { v1 } = new AudienceClient({ ...mock.clientOptions, apiKey: "globex-mock-key" });
        return v1.customers.upsert({ email: bob.email, email_opt_in: "SUBSCRIBED" });
      },
      { mock: { organizations } },
    );

    expect(clickOf(found)).toEqual([bob.email, "before-first", 1]);
  });

  it("one of a person whose address the job changes is found, whichever of her names is given", async () => {
    const moved = "lovelace@example.com";
    const job: Job = (mock) =>
      clientOf(mock).customers.upsert({ phone: ada.phone, email: moved, email_opt_in: "SUBSCRIBED" });
    const options = seeded([{ ...ada, ...subscribed }]);

    expect(clickOf(await foundIn(job, options))).toEqual([moved, "before-first", 1]);
    for (const name of [ada.id, ada.email, moved])
      expect(clickOf(await foundIn(job, { ...options, people: [name] }))).toEqual([name, "before-first", 1]);
  });

  it("one of a person whom the job creates and then gives another address is found", async () => {
    const found = await foundIn(async (mock) => {
      const { customers } = clientOf(mock);
      await customers.upsert({ email: "eve@example.com", phone: "+15550109", email_opt_in: "SUBSCRIBED" });
      const phone_opt_in = "NON_SUBSCRIBED";
      await customers.upsert({ phone: "+15550109", email: "eve@example.org", phone_opt_in });
      await customers.upsert({ phone: "+15550109", email_opt_in: "NON_SUBSCRIBED" });
    }, seeded([]));

    expect(clickOf(found)).toEqual(["eve@example.org", 2, 3]);
  });

  it("the phone is clicked with channel phone, or for a person named by it", async () => {
    const job: Job = (mock) =>
      clientOf(mock).customers.upsert({ phone: ada.phone, phone_opt_in: "SUBSCRIBED" });
    const withPhone = { email: ada.email, phone: ada.phone };

    expect((await foundIn(job, { ...seeded(), channel: "phone" })).channel).toBe("phone");
    expect((await foundIn(job, { ...seeded(), people: [withPhone.phone] })).person).toBe(ada.phone);
    await everyClick(job, seeded());
  });
});

describe("everyClick, a sound job", () => {
  it("passes: one that looks directly before each write", async () => {
    const result = await everyClick(lookThenWrite, seeded());

    expect(result).toEqual({ requests: 4, runs: 1 + 2 * (4 + 2) });
  });

  it("passes: one whose look names the id as it is, without encoding what a path may hold", async () => {
    const withAddress = { ...both[1], id: bob.email };
    const job: Job = async (mock) => {
      const url = `${mock.clientOptions.baseUrl}/api/v1/customer/${bob.email}`;
      const response = await mock.fetch(url, { headers: { "x-api-key": "acme-mock-key" } });
      if (!(await response.text()).includes('"UNSUBSCRIBED"')) await subscribe(mock, bob);
    };

    await everyClick(job, seeded([withAddress]));
  });

  it("looks and writes in its own organization: those of a namesake in another are neither", async () => {
    const contacts = [both[1]];
    const write = { email: bob.email, email_opt_in: "SUBSCRIBED" } as const;
    const mock = {
      organizations: [
        { ...organization, contacts },
        { ...globex, contacts },
      ],
    };
    const clients = (service: MockService) =>
      ["acme-mock-key", "globex-mock-key"].map(
        (apiKey) => new AudienceClient({ ...service.clientOptions, apiKey }).v1.customers,
      );
    const looksAtBoth: Job = async (service) => {
      const own = clients(service);
      const shown = await Promise.all(own.map(async (customers) => await customers.get(bob.id)));
      for (const [index, { attributes }] of shown.entries())
        if (attributes.email_opt_in === "SUBSCRIBED") await own[index]?.upsert(write);
    };
    const looksElsewhere: Job = async (service) => {
      const [acmes, globexes] = clients(service);
      const [person] = (await acmes?.list().toArray({ max: 1 })) ?? [];
      await globexes?.get(bob.id);
      if (person?.attributes.email_opt_in === "SUBSCRIBED") await subscribe(service, bob);
    };

    await everyClick(looksAtBoth, { mock });
    expect(clickOf(await foundIn(looksElsewhere, { mock }))).toEqual([bob.email, 2, 3]);
  });

  it.each(["429", "503-retry-after", "500-before", "reset-before"] as const)(
    "passes: one whose write is sent again after a %s, which applies nothing",
    async (kind) => {
      const fault = { kind, operation: "v1.customers.upsert", times: 1, retryAfter: 0 } as const;

      await everyClick(lookThenWrite, { mock: { ...seeded().mock, faults: [fault] } });
    },
  );

  it.each([
    ["first", async () => undefined],
    ["after another request", async (mock: MockService) => await clientOf(mock).customers.list()],
  ])("passes: a person who asks again within the job, %s", async (_, begin) => {
    await everyClick(
      async (mock) => {
        await begin(mock);
        mock.asksAgain(ada.email);
        await subscribe(mock);
      },
      seeded([both[0]]),
    );
  });

  it("is not excused by a person who asked again before an earlier write, of another channel, or elsewhere", async () => {
    const returnsOnce: Job = async (mock) => {
      mock.asksAgain(ada.email);
      await subscribe(mock);
      await subscribe(mock);
    };
    const byPhone: Job = async (mock) => {
      mock.asksAgain(ada.email, { channel: "phone" });
      await subscribe(mock);
    };
    const organizations = [
      { ...organization, contacts: [both[0]] },
      { ...globex, contacts: [both[0]] },
    ];
    const elsewhere: Job = async (mock) => {
      mock.asksAgain(ada.email, { organization: globex.id });
      await subscribe(mock);
    };

    expect(clickOf(await foundIn(returnsOnce))).toEqual([ada.email, 2, 2]);
    expect(clickOf(await foundIn(byPhone))).toEqual([ada.email, "before-first", 1]);
    expect(clickOf(await foundIn(elsewhere, { mock: { organizations } }))).toEqual([
      ada.email,
      "before-first",
      1,
    ]);
  });

  it("needs writesPerLook for a second write after a look", async () => {
    const job: Job = async (mock) => {
      const { customers, events } = clientOf(mock);
      const { attributes } = await customers.get("a1");
      if (attributes.email_opt_in === "UNSUBSCRIBED") return;
      await events.send({ eventName: "moved", contact: { email: "ADA@example.com" } });
      await subscribe(mock);
    };

    expect(clickOf(await foundIn(job))).toEqual([ada.email, 2, 3]);
    await everyClick(job, { ...seeded(), writesPerLook: 2 });
  });

  it("counts an event that names the person by another key as a write about her", async () => {
    const options = seeded([{ ...both[0], external_id: "x1" }]);
    const variants = { eventContactKeys: ["external_id"] } as const;
    const job: Job = async (mock) => {
      const v1 = clientOf(mock);
      const { attributes } = await v1.customers.get("a1");
      if (attributes.email_opt_in === "UNSUBSCRIBED") return;
      const body = { eventName: "moved", contact: { external_id: "x1" } };
      await v1.request({ method: "POST", path: "/api/v1/events", body });
      await subscribe(mock);
    };

    expect(clickOf(await foundIn(job, { mock: { ...options.mock, variants } }))).toEqual([ada.email, 2, 3]);
  });

  it("is not blamed for what follows a click that nobody could have known: no later look shows it", async () => {
    const job: Job = async (mock) => {
      const { customers } = clientOf(mock);
      for (const email_opt_in of ["NON_SUBSCRIBED", "SUBSCRIBED"] as const) {
        const { attributes } = await customers.get("a1");
        if (attributes.email_opt_in === "UNSUBSCRIBED") return;
        await customers.upsert({ email: ada.email, email_opt_in });
      }
    };

    await everyClick(job, seeded([both[0]]));
  });

  it("is not excused by a look that failed, or that shows the click", async () => {
    const faults = [{ kind: "500-before", operation: "v1.customers.get" }] as const;
    const found = await foundIn(
      async (mock) => {
        await clientOf(mock)
          .customers.get("a1", { maxRetries: 0 })
          .catch(() => undefined);
        await subscribe(mock);
      },
      { mock: { ...seeded().mock, faults }, requests: ({ method }) => method === "POST" },
    );
    expect(clickOf(found)).toEqual([ada.email, "before-first", 2]);

    const blind = await foundIn(async (mock) => {
      await clientOf(mock).customers.get("a1");
      await subscribe(mock);
    });
    expect(clickOf(blind)).toEqual([ada.email, "before-first", 2]);
  });

  it("is not blamed for a click that comes while its request is under way", async () => {
    const job: Job = async (mock) => {
      const { customers } = clientOf(mock);
      const [first] = await customers.list().toArray({ max: 100 });
      if (first?.attributes.email_opt_in === "SUBSCRIBED") await subscribe(mock);
    };
    const options = seeded([both[0]]);

    expect(clickOf(await foundIn(job, options))).toEqual([ada.email, 2, 2]);
    await everyClick(job, { mock: { ...options.mock, latencyMs: 4 } });
  });
});

describe("everyClick runs", () => {
  it("several at a time, each on a mock of its own at an address of its own, with one click at each moment", async () => {
    const clicks: string[] = [];
    const mocks = new Set<MockService>();
    await everyClick(
      async (mock) => {
        mocks.add(mock);
        const { customers } = clientOf(mock);
        await customers.get("b1");
        await customers.get("b1");
        const { consentHistory } = mock.organization("acme");
        clicks.push(consentHistory.flatMap(({ by, email }) => (by === "person" ? [email] : [])).join());
      },
      seeded([both[1]]),
    );

    // What a program remembers of its calls to a service must not pass from one run to another.
    expect(new Set([...mocks].map(({ clientOptions }) => clientOptions.baseUrl)).size).toBe(1 + 4);
    expect(clicks.sort()).toEqual(["", bob.email, bob.email, bob.email, bob.email]);
  });

  it("for the people and requests that are named", async () => {
    const seen: (string | undefined)[] = [];
    const result = await everyClick(lookThenWrite, {
      ...seeded(),
      people: ["b1"],
      requests: ({ operation }) => {
        seen.push(operation);
        return operation === "v1.customers.upsert";
      },
    });

    expect(result).toEqual({ requests: 4, runs: 1 + 2 + 2 });
    expect(seen).toEqual([
      "v1.customers.get",
      "v1.customers.upsert",
      "v1.customers.get",
      "v1.customers.upsert",
    ]);
  });

  it("end with ClickUndone if the job fails with a click, and its cause is the job's own error", async () => {
    const own = new Error("Bob is gone");
    const found = await foundIn(async (mock) => {
      const { attributes } = await clientOf(mock).customers.get("b1");
      if (attributes.email_opt_in !== "SUBSCRIBED") throw own;
    });

    expect([clickOf(found), found.entry]).toEqual([[bob.email, "before-first", undefined], undefined]);
    expect(found.cause).toBe(own);
    expect(found.message).toBe(
      "the job fails if bob@example.com unsubscribes (email) before the first request: Bob is gone",
    );
  });

  it("name a job that never ends with a click", async () => {
    const found = await foundIn(
      async (mock) => {
        const { attributes } = await clientOf(mock).customers.get("b1");
        if (attributes.email_opt_in === "UNSUBSCRIBED") await new Promise(() => {});
      },
      { ...seeded(), timeoutMs: 200 },
    );

    expect(clickOf(found)).toEqual([bob.email, "before-first", undefined]);
    expect(String(found.cause)).toBe("Error: the job did not end within 200 ms");
  });

  it("end with the job's own error, after one run, if it fails without a click", async () => {
    const own = new Error("own");
    const job = vi.fn(async (mock: MockService) => {
      await clientOf(mock).customers.get("b1");
      throw own;
    });

    await expect(everyClick(job, seeded())).rejects.toBe(own);
    expect(job).toHaveBeenCalledOnce();
  });

  it.each([
    ["a job without a request", async () => undefined, {}, "sent no request"],
    [
      "a job without people",
      (mock: MockService) => clientOf(mock).customers.list(),
      {},
      "there is nobody who",
    ],
    [
      "an unknown person",
      lookThenWrite,
      { ...seeded(), people: ["eve@example.com"] },
      '"eve@example.com" is nobody',
    ],
  ])("%s is refused", async (_, job, options, message) => {
    // @ts-expect-error -- a caller from JavaScript has no compiler.
    const result: Promise<unknown> = everyClick(job, options);

    await expect(result).rejects.toThrow(TypeError);
    await expect(result).rejects.toThrow(message);
  });
});
