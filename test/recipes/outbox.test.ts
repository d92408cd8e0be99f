import { AudienceClient, write } from "audience-sdk";
import { ClickUndone, everyClick, everyFault, type MockService } from "audience-sdk/mock";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Outbox } from "../../examples/outbox/outbox.ts";
import { sendJobs } from "../../examples/outbox/send-jobs.ts";
import { eventually } from "../eventually.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const email = "ada@example.com";
const contacts = [{ email, email_opt_in: "SUBSCRIBED" as const }];
const owner = { id: "shop", apiKeys: ["mock-key-of-a-shop"], appId: "mock-app" };

describeWithRedis("The outbox", () => {
  let redis: RedisServer;
  let runs = 0;
  beforeAll(async () => void (redis = await RedisServer.start("--databases", "200")));
  afterAll(() => redis.end());

  /** She opts in, and orders; each run has a database of its own. */
  async function send(mock: MockService): Promise<void> {
    const connection = new Redis(redis.port, { maxRetriesPerRequest: null, db: runs++ });
    const outbox = new Outbox(connection);
    await outbox.addActs("1", [write.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" })]);
    await outbox.addEvent(
      write.v1.events.send({ eventName: "order_placed", uniqueIdentifier: "order-1", contact: { email } }),
    );
    const audience = new AudienceClient(mock.clientOptions);
    const worker = sendJobs({ connection, audience });
    await eventually(async () => expect(await outbox.count()).toEqual({ open: 0, failed: 0 }));
    await worker.close();
    await audience.close();
    await outbox.close();
    await connection.quit();
  }

  // Its guide says so: nobody is looked up before an opt-in is sent.
  it("subscribes a person again who leaves while her opt-in waits", async () => {
    const undone = everyClick(send, { mock: { organizations: [{ ...owner, contacts }] } });
    await expect(undone).rejects.toBeInstanceOf(ClickUndone);
  });

  it("loses no act and no event and doubles nothing, whatever single fault it meets", async () => {
    await everyFault(
      async (mock) => {
        await send(mock);
        const { contacts: people, events, consentHistory } = mock.organization(owner.id);
        expect(people).toMatchObject(contacts);
        expect(events).toMatchObject([{ uniqueIdentifier: "order-1" }]);
        expect(consentHistory.filter(({ to }) => to === "SUBSCRIBED")).toHaveLength(1);
      },
      { mock: { organizations: [owner] } },
    );
  });
});
