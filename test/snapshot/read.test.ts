import { readdirSync, statSync } from "node:fs";
import { UnexpectedResponseError } from "audience-sdk";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it } from "vitest";
import { contactsOf, createAudience, linesOf, people } from "./fixture.ts";

describe("A snapshot holds every contact once", () => {
  it("reads pages of 100, and knows that it is complete", async () => {
    const { audience, file, mock } = createAudience(250);

    using today = await readSnapshot(audience, { file });

    expect(today.size).toBe(250);
    expect(today.complete).toBe(true);
    expect(mock.requests.map(({ path }) => path)).toEqual(Array(3).fill("/api/v1/customer"));
    expect(mock.requests.map(({ query }) => [query["page"], query["limit"]])).toEqual([
      ["1", "100"],
      ["2", "100"],
      ["3", "100"],
    ]);
    expect((await contactsOf(today)).map(({ id }) => id)).toEqual(people(250).map(({ id }) => id));
  });

  it("reads an audience of nobody", async () => {
    const { audience, file } = createAudience(0);

    using today = await readSnapshot(audience, { file });

    expect(today).toMatchObject({ size: 0, complete: true });
    expect(await contactsOf(today)).toEqual([]);
    expect(today.find({ email: "ada@example.com" })).toBeUndefined();
  });

  it.each(["created", "newest", "updated"] as const)("in the order %s", async (v1CustomerOrder) => {
    const { audience, file } = createAudience(250, { variants: { v1CustomerOrder } });

    using today = await readSnapshot(audience, { file });

    const ids = (await contactsOf(today)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(
      people(250)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  it("of a contact that comes twice, as the list shifts, the later one counts", async () => {
    const { client, file, mock } = createAudience(150, { variants: { v1CustomerOrder: "updated" } });
    let pages = 0;
    const audience = client({
      fetch: async (url, init) => {
        const response = await mock.fetch(url, init);
        // Between the pages a contact of the second one moves to the front, and one of the first into the second.
        if ((pages += 1) === 1) mock.person("acme", "id-3").unsubscribe("email");
        return response;
      },
    });

    using today = await readSnapshot(audience, { file });

    const ids = (await contactsOf(today)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(linesOf(file)).toHaveLength(1 + today.size);
  });

  it("is not complete where a total changes", async () => {
    const { client, file, mock } = createAudience(150);
    const audience = client({
      fetch: async (url, init) => {
        const response = await mock.fetch(url, init);
        await mock.fetch("https://api.example/api/v1/customer/create", {
          method: "POST",
          headers: { "X-API-Key": "mock-key-acme", "Content-Type": "application/json" },
          body: JSON.stringify({ email: "new@example.com" }),
        });
        return response;
      },
    });

    using today = await readSnapshot(audience, { file });

    expect(today).toMatchObject({ size: 151, complete: false });
  });

  it("is not complete where no total is told", async () => {
    const { audience, file } = createAudience(150, { variants: { v1Paging: "links" } });

    using today = await readSnapshot(audience, { file });

    expect(today).toMatchObject({ size: 150, complete: false });
  });
});
