import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { serve } from "../transport/served.ts";

describe("A 2xx whose body cannot be decompressed", () => {
  it.each(["gzip", "deflate", "br"])(
    "(%s) is an UnexpectedResponseError, and never retried",
    async (encoding) => {
      const { options, received } = await serve((outgoing) => {
        outgoing.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
        outgoing.end("this is no compressed text at all");
      });
      const audience = new AudienceClient(options);

      const error = await failureOf(audience.v1.customers.get("c-1"));

      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({
        message: "200 on GET /api/v1/customer/{id}, but its body cannot be decompressed.",
        status: 200,
        outcome: "not-applied",
      });
      expect(received).toHaveLength(1);
    },
  );
});
