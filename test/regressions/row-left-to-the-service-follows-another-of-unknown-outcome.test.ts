import { expect, it } from "vitest";
import { createFixture, collectRun } from "../bulk/fixture.ts";

const listId = "mock-list";
const contact = { email: "ada@example.com" };

it("A row that leaves the consent to the service is superseded by a call that left it too, and whose outcome is unknown", async () => {
  const { mock, audience } = createFixture({
    faults: [{ kind: "reset-after", operation: "v1.contactGroups.addContact", times: 1 }],
  });
  const leave = (request?: object) =>
    audience.v1.contactGroups.addContact(listId, contact, { ...request, consent: "service-decides" });
  // The call comes first, and the run reads its row only then.
  async function* rows() {
    await expect(leave()).rejects.toMatchObject({ outcome: "unknown" });
    yield contact;
  }

  const { results } = await collectRun(audience.bulk(rows(), (_, request) => leave(request)));

  // A second time would have made the new contact a subscriber.
  expect(results).toMatchObject([{ status: "superseded" }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "NON_SUBSCRIBED" }]);
});
