import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { exitCodeOf, MockCommand } from "./mock-command.ts";

/** A receiver of webhook calls that never responds. */
const receiver = createServer();
let mockCommand: MockCommand;

beforeAll(async () => {
  mockCommand = await MockCommand.bundle();
});
afterEach(() => mockCommand.end());
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await mockCommand.remove();
});

const run = (...args: string[]) => mockCommand.run(...args);
const serve = async (...args: string[]) => {
  const served = await mockCommand.serve(...args);
  return { ...served, output: served.output() };
};
const seedFile = (content: unknown) =>
  mockCommand.write("seed.json", typeof content === "string" ? content : JSON.stringify(content));

describe("audience-mock", () => {
  it("prints its address and keys, responds to plain HTTP, and ends with SIGTERM", async () => {
    const { child, output, url } = await serve();
    const headers = { "x-api-key": "mock-api-key-not-a-secret", "content-type": "application/json" };
    const created = await fetch(`${url}/api/v1/customer/create`, {
      method: "POST",
      headers,
      body: '{"email":"ada@example.com"}',
    });
    const v2 = await fetch(`${url}/v2/lists`, {
      headers: { "service-api-key": "mock-api-key-not-a-secret", "service-app-id": "mock-app-id" },
    });
    const state: unknown = await (await fetch(`${url}/__mock/organizations/mock-organization`)).json();
    child.kill("SIGTERM");
    const code = await exitCodeOf(child);

    expect([created.status, v2.status, code]).toEqual([201, 200, 0]);
    expect(state).toMatchObject({ contacts: [{ email: "ada@example.com" }] });
    for (const part of [
      `export AUDIENCE_BASE_URL=${url}`,
      `export AUDIENCE_BASE_URL_V2=${url}`,
      "mock-api-key-not-a-secret",
      "mock-app-id",
      "mock-list",
    ]) {
      expect(output).toContain(part);
    }
  });

  it("ends with SIGTERM from its start message on", async () => {
    const killsItself = `process.stdout.write = () => process.kill(process.pid, "SIGTERM")`;
    const preloaded = `data:text/javascript,${encodeURIComponent(killsItself)}`;
    const child = mockCommand.start(["--import", preloaded], ["--port", "0"]);

    expect(await exitCodeOf(child)).toBe(0);
  });

  it("starts with the contents of the seed file", async () => {
    const organization = {
      id: "acme",
      apiKeys: ["acme-key"],
      apiKeysV2: ["acme-v2"],
      appId: "acme-app",
      contacts: [{ id: "ada", email: "ada@example.com" }],
    };
    const file = await seedFile({
      organizations: [organization],
      rateLimits: [{ limit: 1, intervalMs: 60_000 }],
      variants: { rateLimitStatus: 503 },
    });
    const { output, url } = await serve("--seed", file);
    const headers = { "x-api-key": "acme-key" };
    const first = await fetch(`${url}/api/v1/customer/ada`, { headers });
    const second = await fetch(`${url}/api/v1/customer/ada`, { headers });

    expect([first.status, second.status]).toEqual([200, 503]);
    expect(output).toContain("export AUDIENCE_API_KEY_V2=acme-v2");
  });

  it("accepts a seed file with organizations only", async () => {
    const { url } = await serve(
      "--seed",
      await seedFile([{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app" }]),
    );

    expect((await fetch(`${url}/api/v1/customer`, { headers: { "x-api-key": "acme-key" } })).status).toBe(
      200,
    );
  });

  it("accepts a seed file with a byte order mark, as Windows writes it", async () => {
    const seed = [{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app" }];
    const { output } = await serve("--seed", await seedFile(`\uFEFF${JSON.stringify(seed)}`));

    expect(output).toContain("acme-key");
  });

  it("answers on all addresses only if --host says so, and to other names only if --allow-host does", async () => {
    const { output, url } = await serve(
      "--host",
      "0.0.0.0",
      "--allow-host",
      "mock.test",
      "--allow-host",
      "mock",
    );
    const { port } = new URL(url);
    const statusOf = (host: string) =>
      new Promise((resolve, reject) => {
        const options = { host: "127.0.0.2", port, headers: { host }, agent: false };
        get(options, (response) => resolve(response.resume().statusCode)).on("error", reject);
      });

    expect(output).toContain(`export AUDIENCE_BASE_URL=http://127.0.0.1:${port}`);
    expect((await fetch(url)).status).toBe(200);
    expect(await statusOf("mock.test:4010")).toBe(200);
    expect(await statusOf("MOCK")).toBe(200);
    expect(await statusOf("localhost")).toBe(200);
    expect(await statusOf("evil.example")).toBe(403);
  });

  it("each POST in --help has the content type of JSON", async () => {
    const { output } = await run("--help");
    const posts = output.split("\n").filter((line) => /^ {2}curl.*( -d | -X POST )/.test(line));

    expect(posts).toHaveLength(8);
    expect(posts.filter((line) => !line.includes(' -H "$JSON" '))).toEqual([]);
  });

  it("--help shows a call of every endpoint, the faults and a seed", async () => {
    const { code, output } = await run("--help");

    expect(code).toBe(0);
    const parts = [
      "/api/v1/customer/create",
      "/api/v1/customer/ID",
      "/api/v1/customer?",
      "/api/v1/contact-groups?",
      "mock-list/contacts",
      "/api/v1/events",
    ];
    for (const part of [
      ...parts,
      "/v2/lists",
      "/v2/contacts",
      "/__mock/faults",
      "-X DELETE",
      "in a browser",
      "--state FILE",
      "--env FILE",
      "--quiet",
      "email,phone",
      "reset-after",
      "organizations",
    ])
      expect(output).toContain(part);
  });

  it.each([
    ["a port that is no number", ["--port", "x"], "--port must be an integer"],
    ["a port out of range", ["--port", "70000"], "--port must be an integer"],
    ["a port below zero", ["--port", "-1"], "--port must be an integer from 0"],
    ["a port below zero behind a sign", ["--port=-1"], "--port must be an integer from 0"],
    ["an unknown option", ["--prot", "1"], "--prot"],
    ["an extra argument", ["start"], "start"],
    ["an address that is empty", ["--host="], "--host must be an address"],
    ["an address of another machine", ["--port", "0", "--host", "192.0.2.1"], "EADDRNOTAVAIL"],
    ["a URL as a name", ["--allow-host", "http://mock.test"], "--allow-host must be a host"],
    ["any name", ["--allow-host", "*"], "--allow-host must be a host"],
    ["a missing seed file", ["--seed", "nowhere.json"], "ENOENT"],
  ])("%s is an error with code 1 and no stack", async (_, args, message) => {
    const { code, errors } = await run(...args);

    expect(code).toBe(1);
    expect(errors).toContain(message);
    expect(errors).toContain("audience-mock --help");
    expect(errors).not.toMatch(/^\s+at /m);
  });

  it.each([
    ["no JSON", "{", "JSON"],
    ["a text", '"acme"', "must hold an object"],
    ["an unknown field", { organisations: [] }, '"organisations" is none of organizations'],
    ["an organization without keys", [{ id: "acme", appId: "a" }], "organizations[0].apiKeys"],
    [
      "a misspelt field of an organization",
      [{ id: "acme", apiKeys: ["k"], appId: "a", welcomeflow: true }],
      "organizations[0].welcomeflow is not a recognized field; there are id, apiKeys",
    ],
    ["no window", { rateLimits: [] }, "rateLimits must have at least 1 item"],
    [
      "two lists of one id",
      [
        {
          id: "acme",
          apiKeys: ["k"],
          appId: "a",
          lists: [
            { id: "l", name: "L" },
            { id: "l", name: "M" },
          ],
        },
      ],
      "l",
    ],
    ["an unknown variant", { variants: { v9: 1 } }, "v9 is not a recognized field"],
  ])("a seed file with %s is an error that names the problem", async (_, content, message) => {
    const file = await seedFile(content);
    const { code, errors } = await run("--port", "0", "--seed", file);

    expect(code).toBe(1);
    expect(errors).toContain(`--seed ${file}: `);
    expect(errors).toContain(message);
  });

  it("calls the webhooks of its seed, and ends at once though a receiver hangs", async () => {
    const received: unknown[] = [];
    const arrived = new Promise<void>((resolve) => {
      receiver.on("request", (request: IncomingMessage) => {
        request.on("data", (body) => received.push(JSON.parse(String(body))));
        request.on("end", resolve);
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const webhook = { url: `http://127.0.0.1:${port}/hooks` };
    const automations = [{ name: "Thanks", on: { event: "order placed" }, webhook }];
    const organizations = [{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app", automations }];
    const variants = { webhookTimeoutMs: 600_000 };
    const seed = await seedFile({ organizations, variants, webhooks: "loopback" });

    const { child, url } = await serve("--seed", seed);
    const { status } = await fetch(`${url}/api/v1/events`, {
      method: "POST",
      headers: { "x-api-key": "acme-key", "content-type": "application/json" },
      body: '{"eventName":"order placed","contact":{"email":"ada@example.com"}}',
    });
    await arrived;
    child.kill("SIGTERM");

    expect([status, await exitCodeOf(child)]).toEqual([200, 0]);
    expect(received).toMatchObject([{ automation: "Thanks", contact: { email: "ada@example.com" } }]);
  });

  it("a port in use is an error that names the remedy", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code, errors } = await run("--port", String(port));
    other.close();

    expect(code).toBe(1);
    expect(errors).toContain(`port ${port} is in use`);
  });
});
