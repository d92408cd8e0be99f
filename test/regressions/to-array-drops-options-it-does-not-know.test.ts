import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

// A caller in JavaScript can pass these; each would read the whole list, one call for every hundred items.
it.each([[5], [{ limit: 5 }], [{ Max: 5 }], [null], [{ max: "5" }], [{ max: -1 }], [{ max: Number.NaN }]])(
  "toArray(%j) is refused, and nothing is sent",
  async (options) => {
    const mock = createMockService();
    const contacts = new AudienceClient(mock.clientOptions).v1.customers.list();

    await expect(contacts.toArray(options as object)).rejects.toMatchObject({ code: "configuration" });
    expect(mock.requests).toEqual([]);
  },
);
