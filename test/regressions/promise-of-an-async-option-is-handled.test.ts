import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";

const rejects = (async () => {
  throw new Error("later");
}) as unknown;

it("an async check, key or stopWhen is refused, and its rejection is handled", async () => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  onTestFinished(() => void process.off("unhandledRejection", record));
  const audience = new AudienceClient(createMockService().clientOptions);

  const checked = audience.bulk.check([1], rejects as () => { success: true });
  expect(await failureOf(checked)).toBeInstanceOf(ConfigurationError);

  const fail = () => Promise.reject(new TypeError("the row fails"));
  const named = audience.bulk([1], fail, { key: rejects as () => string });
  expect(await named.summary()).toMatchObject({ invalid: 1 });
  const stopped = audience.bulk([1], fail, { stopWhen: rejects as () => boolean });
  expect(await failureOf(stopped.summary())).toBeInstanceOf(ConfigurationError);

  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
