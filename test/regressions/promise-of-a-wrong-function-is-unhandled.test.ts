import { AudienceClient, ConfigurationError, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { failureOf, thrownBy } from "../transport/failure.ts";

const rejects = (async () => {
  throw new Error("later");
}) as unknown;

it("an async clock, and an async check of rows, are refused; what they reject with is heard", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  onTestFinished(() => void process.off("unhandledRejection", hear));
  const audience = new AudienceClient(createMockService().clientOptions);

  expect(thrownBy(() => new RateLimiter({ clock: rejects as () => number }))).toBeInstanceOf(
    ConfigurationError,
  );
  const checked = audience.bulk.check([1], rejects as () => { success: true });
  expect(await failureOf(checked)).toBeInstanceOf(ConfigurationError);

  await new Promise((resolve) => setImmediate(resolve));
  expect(unheard).toEqual([]);
});
