import { AudienceClient, type ListOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it.each([
  [{ readahead: 2 }, "did you mean readAhead?"],
  [
    { perPage: 2 },
    "the options are signal, timeoutMs, deadlineMs, maxRetries, maxWaitMs, priority, headers, repeatable, readAhead.",
  ],
])(
  "the error for a list with %j names the intended option, and no request is sent",
  async (options, wayOut) => {
    const mock = createMockService();
    const { v1, v2 } = new AudienceClient(mock.clientOptions);
    const [name] = Object.keys(options);
    // A caller in JavaScript can pass this.
    const given = options as ListOptions;
    for (const list of [
      v1.customers.list({}, given),
      v1.contactGroups.list({}, given),
      v2.lists.list({}, given),
    ])
      await expect(list.toArray()).rejects.toMatchObject({
        code: "configuration",
        message: `The call's options: there is no option "${name}"; ${wayOut}`,
      });
    expect(mock.requests).toEqual([]);
  },
);
