import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("The error for two empty pages of a list that has not ended says so, and how to read on", async () => {
  const { v2 } = new AudienceClient({
    baseUrlV2: "https://api.example.com",
    apiKeyV2: "k",
    appId: "a",
    rateLimiter: false,
    fetch: async (url) => {
      const lists = new URL(url).searchParams.has("page") ? [] : [{ uuid: "1" }];
      return Response.json({ success: true, data: { lists, total_items: 900 } });
    },
  });

  const error = await failureOf(v2.lists.list().toArray());

  expect(error).toMatchObject({ code: "unexpected_response", outcome: "not-applied" });
  expect(error.message).toBe(
    "200 on GET /v2/lists, but page 3 is empty, and page 2 held no new item, but the response says that the list goes on. To read on, begin at page 4.",
  );
});
