import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMockService, type MockService } from "audience-sdk/mock";
import { Redis } from "ioredis";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { People } from "../../examples/recipes/nightly/people.ts";
import { eventually } from "../eventually.ts";
import { startRecipe, type RecipeProgram } from "../recipes/recipe-program.ts";
import { freePort, RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

describeWithRedis("The recipe for a nightly job beside a website", () => {
  let mock: MockService;
  let people: People;
  let env: Record<string, string>;

  beforeEach(async () => {
    mock = createMockService();
    const [redis, service, port] = await Promise.all([RedisServer.start(), mock.listen(), freePort()]);
    const folder = mkdtempSync(join(tmpdir(), "nightly-"));
    env = {
      REDIS_URL: redis.url,
      AUDIENCE_BASE_URL: service.clientOptions.baseUrl,
      AUDIENCE_API_KEY: service.clientOptions.apiKey,
      FOLDER: folder,
      PORT: `${port}`,
    };
    const connection = new Redis(redis.port);
    people = new People(connection);
    onTestFinished(async () => {
      await connection.quit();
      await service.close();
      await redis.end();
      rmSync(folder, { recursive: true });
    });
  });

  async function fill(count: number): Promise<void> {
    for (let order = 0; order < count; order += 1)
      await people.setConsent(`person${order}@example.com`, "SUBSCRIBED");
  }

  const consentOf = (email: string) =>
    mock.organization("mock-organization").contacts.find((contact) => contact.email === email)?.email_opt_in;

  async function nightly(): Promise<string> {
    const job = startRecipe("nightly/nightly", env);
    expect(await job.ended, job.printed()).toBe(0);
    return job.printed();
  }

  async function startWebsite(): Promise<
    RecipeProgram & { post(path: string, email: string): Promise<number> }
  > {
    const website = startRecipe("nightly/website", env);
    const post = async (path: string, body: string) =>
      (await fetch(`http://127.0.0.1:${env["PORT"]}${path}`, { method: "POST", body })).status;
    await eventually(() => post("/", ""));
    return { ...website, post };
  }

  it("never brings back who left by the website while the job ran", async () => {
    await fill(11);
    const website = await startWebsite();
    const job = startRecipe("nightly/nightly", env);
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(5));

    // The last row, which may still be to come, and the first, which was sent.
    expect(await website.post("/unsubscribe", "person10@example.com")).toBe(204);
    expect(await website.post("/unsubscribe", "person0@example.com")).toBe(204);
    expect(await job.ended, job.printed()).toBe(0);

    const left = ["person0@example.com", "person10@example.com"];
    expect(left.map(consentOf)).toEqual(["UNSUBSCRIBED", "UNSUBSCRIBED"]);
    expect(consentOf("person1@example.com")).toBe("SUBSCRIBED");
    website.child.kill("SIGTERM");
    expect(await website.ended).toBe(0);
  });

  it("takes over into the table who left at the service, over an older word and over no newer one", async () => {
    await fill(3);
    await nightly();
    mock.unsubscribe("person0@example.com");

    await nightly();
    await people.refuse("person1@example.com", new Date(0));
    await people.refuse("stranger@example.com", new Date());
    // In the table without a word of her own.
    await people.setCity("person2a@example.com", "Bonn");
    await people.refuse("person2a@example.com", new Date());

    const consents = (await people.all()).map(({ email, email_opt_in }) => `${email} ${email_opt_in}`);
    expect(consents.toSorted()).toEqual([
      "person0@example.com UNSUBSCRIBED",
      "person1@example.com SUBSCRIBED",
      "person2@example.com SUBSCRIBED",
      "person2a@example.com UNSUBSCRIBED",
    ]);
  });

  it("ends at SIGTERM, and the next night goes on", async () => {
    await fill(12);
    const job = startRecipe("nightly/nightly", env);
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(5));
    job.child.kill("SIGTERM");
    expect(await job.ended, job.printed()).toBe(0);
    expect(mock.requests.length).toBeLessThan(13);

    await nightly();

    expect((await people.all()).map(({ email }) => consentOf(email))).toEqual(Array(12).fill("SUBSCRIBED"));
  });

  it("lets nothing into the table that is no address", async () => {
    const website = await startWebsite();

    for (const email of ["", " person0@example.com", "not an address"])
      expect(await website.post("/subscribe", email)).toBe(400);

    expect(await people.all()).toEqual([]);
  });

  it("sends tonight what the website could not", async () => {
    const website = await startWebsite();
    mock.addFault({ kind: "500-before", times: 5 });
    expect(await website.post("/subscribe", "person0@example.com")).toBe(202);

    await nightly();

    expect(consentOf("person0@example.com")).toBe("SUBSCRIBED");
  });
});
