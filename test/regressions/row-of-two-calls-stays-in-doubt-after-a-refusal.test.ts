import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

const connectionRefused = () => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
};

it.each<[string, () => Response]>([
  ["a 400", () => new Response(null, { status: 400 })],
  ["a 401", () => new Response(null, { status: 401 })],
  [
    "a 429 that asks to wait for more than an hour",
    () => new Response(null, { status: 429, headers: { "Retry-After": "4000" } }),
  ],
  ["a refused connection", connectionRefused],
])(
  "a row whose first call may be repeated, and whose second must not be but met %s, is sent again the next night",
  async (_, refuse) => {
    let isRefused = true;
    const { mock, audience: real } = createFixture();
    const audience = real.withOptions({
      maxRetries: 0,
      fetch: async (url, init) =>
        isRefused && url.endsWith("/customer/create") ? refuse() : await mock.fetch(url, init),
    });
    const options = { checkpoint: new LoggedCheckpoint(), key };
    const call = async ({ email }: Row, request: BulkRequest) => {
      await audience.v1.events.send({ eventName: "imported", contact: { email } }, request);
      // Without `email_opt_in`.
      return await audience.v1.customers.upsert({ email, first_name: "Ada" }, request);
    };

    const first = await collectRun(audience.bulk([row(0)], call, options));
    isRefused = false;
    const nights = [
      await audience.bulk([row(0)], call, options),
      await audience.bulk([row(0)], call, options),
    ];

    expect(first.results).toMatchObject([{ status: "failed" }]);
    expect(nights).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
    const { contacts, events } = mock.organization("mock-organization");
    expect(contacts).toMatchObject([{ first_name: "Ada" }]);
    // Its generated id is the same each night.
    expect(events).toHaveLength(1);
  },
);
