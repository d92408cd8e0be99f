import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it.each(["ECONNREFUSED", "EPROTO", "ENOTFOUND"])(
  "a write whose response broke off in its body with %s is unknown, and is not sent again if it is not repeatable",
  async (code) => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      const body = new ReadableStream({
        pull: (controller) => controller.error(Object.assign(new Error("broken"), { code })),
      });
      return new Response(body, { status: 201 });
    };
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "not-a-secret-1",
      fetch,
      rateLimiter: false,
    });

    const error = await failureOf(
      audience.v1.customers.upsert({
        email: "ada@example.com",
        email_opt_in: "SUBSCRIBED",
        double_opt_in: true,
      }),
    );

    expect(error).toMatchObject({ code: "connection", outcome: "unknown" });
    expect(sent).toBe(1);
  },
);
