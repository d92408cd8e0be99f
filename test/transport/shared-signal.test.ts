import { getEventListeners } from "node:events";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "./failure.ts";

it("a signal has one listener for any number of calls, as Node warns of a leak from the eleventh on", async () => {
  const mock = createMockService({ faults: [{ kind: "hang" }] });
  const { v1 } = new AudienceClient(mock.clientOptions);
  const controller = new AbortController();
  const { signal } = controller;
  const calls = Array.from({ length: 100 }, (_, call) => failureOf(v1.customers.get(`c${call}`, { signal })));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);

  controller.abort("the user left");

  const errors = await Promise.all(calls);
  expect(new Set(errors.map(({ code, cause }) => `${code}: ${String(cause)}`))).toEqual(
    new Set(["aborted: the user left"]),
  );
});

it("a hundred calls leave no listener on a signal that lives on", async () => {
  const mock = createMockService();
  const { v1 } = new AudienceClient(mock.clientOptions);
  const { signal } = new AbortController();
  for (let call = 0; call < 100; call++) {
    await v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }, { signal });
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

it("a signal that served ended calls still aborts a later one", async () => {
  const mock = createMockService();
  const { v1 } = new AudienceClient(mock.clientOptions);
  const controller = new AbortController();
  const { signal } = controller;
  await v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }, { signal });
  mock.addFault({ kind: "hang" });
  const call = failureOf(v1.customers.get("c", { signal }));

  controller.abort();

  expect(await call).toMatchObject({ code: "aborted" });
});
