import { isAudienceError } from "audience-sdk";
import { ClickUndone, everyClick, everyFault, type MockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";

export const [ada, bo] = ["ada@example.com", "bo@example.com"];
export const list = { id: "readers", name: "Readers" };

/** The user's own table. */
export const table = [
  { email: ada, email_opt_in: "SUBSCRIBED" as const },
  { email: bo, email_opt_in: "UNSUBSCRIBED" as const },
];

const owner = { id: "shop", apiKeys: ["mock-key-of-a-shop"], appId: "mock-app", lists: [list] };

export interface Recipe {
  /** Does all that the recipe does; several run at a time. */
  readonly job: (mock: MockService) => Promise<unknown>;
  /** What it leaves at the service: everybody with her consent, how many are on the list, and how many events. */
  readonly leaves: {
    readonly consents: Record<string, string>;
    readonly listed?: number;
    readonly events?: number;
  };
  /** Who of these people is subscribed again, if she leaves at the service at some moment of the job. */
  readonly undone: readonly string[];
  /** The address of the service, where the recipe was given it before. */
  readonly baseUrl?: string;
}

/** A job that ends with an error of the package is started again, as a crontab or a person does. */
export async function untilDone(job: () => Promise<boolean>): Promise<void> {
  for (let turn = 1; turn <= 3; turn += 1)
    try {
      if (await job()) return;
    } catch (error) {
      if (!isAudienceError(error)) throw error;
    }
  throw new Error("three turns were not enough");
}

/** Tries a recipe with every click of the people that it concerns, and with every fault. */
export function tryEverything({ job, leaves, undone, baseUrl }: Recipe): void {
  const { consents, listed = 0, events = 0 } = leaves;
  const variants = { ...(baseUrl && { baseUrl }) };
  const contacts = Object.keys(consents).map((email) => ({ email, email_opt_in: "SUBSCRIBED" as const }));

  it(`subscribes ${undone.length} of those again who leave at the service, at whatever moment`, async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const found: string[] = [];
    for (const { email } of contacts)
      await everyClick(job, {
        people: [email],
        mock: { organizations: [{ ...owner, contacts }], variants },
      }).catch((error: unknown) => {
        if (!(error instanceof ClickUndone) || error.entry === undefined) throw error;
        found.push(email);
      });
    expect(found).toEqual(undone);
  });

  it("loses nothing and doubles nothing, whatever single fault it meets", async () => {
    for (const level of ["log", "error"] as const) vi.spyOn(console, level).mockReturnValue();
    await everyFault(
      async (mock) => {
        await job(mock);
        const state = mock.organization(owner.id);
        expect(state.contacts).toHaveLength(contacts.length);
        expect(Object.fromEntries(state.contacts.map((one) => [one.email, one.email_opt_in]))).toEqual(
          consents,
        );
        expect(state.memberships).toHaveLength(listed);
        expect(state.events).toHaveLength(events);
        const subscribed = Object.values(consents).filter((consent) => consent === "SUBSCRIBED");
        const raised = state.consentHistory.filter(({ to }) => to === "SUBSCRIBED");
        expect(raised).toHaveLength(subscribed.length);
      },
      { mock: { organizations: [owner], variants } },
    );
  });
}
