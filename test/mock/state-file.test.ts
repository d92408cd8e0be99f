import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { MockOrganizationState } from "audience-sdk/mock";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { exitCodeOf, MockCommand, type Served, type ServedByProcess } from "./mock-command.ts";

let mockCommand: MockCommand;
beforeAll(async () => {
  mockCommand = await MockCommand.bundle();
});
afterEach(() => mockCommand.end());
afterAll(() => mockCommand.remove());

const KEY = { "x-api-key": "mock-api-key-not-a-secret", "content-type": "application/json" };
const post = async (url: string, path: string, body: unknown) => {
  const response = await fetch(url + path, { method: "POST", headers: KEY, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as unknown };
};
const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
const event = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email: ada.email } };
const ADD = "/api/v1/contact-groups/mock-list/contacts";
const stateOf = async ({ url }: Served): Promise<MockOrganizationState> => {
  const response = await fetch(`${url}/__mock/organizations/mock-organization`);
  return (await response.json()) as MockOrganizationState;
};
const stop = async ({ child }: ServedByProcess, signal: NodeJS.Signals = "SIGTERM") => {
  const ended = exitCodeOf(child);
  child.kill(signal);
  return ended;
};
let saved: string | undefined;
/** A file with Ada on a list, and her order. */
const savedState = async (): Promise<string> => {
  const file = mockCommand.path("state.json");
  if (saved === undefined) {
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);
    await post(first.url, "/api/v1/events", event);
    await stop(first);
    saved = readFileSync(file, "utf8");
  }
  writeFileSync(file, saved);
  return file;
};
const contactsIn = (file: string): unknown[] => {
  const { organizations } = JSON.parse(readFileSync(file, "utf8")) as {
    organizations: Record<string, MockOrganizationState>;
  };
  return organizations["mock-organization"]?.contacts ?? [];
};

describe("audience-mock --state", () => {
  it("keeps the whole state over restarts by SIGTERM and SIGINT, and goes on where it was", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);
    await post(first.url, "/api/v1/events", event);
    await post(first.url, "/__mock/unsubscribe", { person: ada.email });
    await post(first.url, "/__mock/faults", { kind: "500-before" });
    expect((await post(first.url, ADD, ada)).status).toBe(500);
    const before = await stateOf(first);
    expect(await stop(first, "SIGTERM")).toBe(0);

    const second = await mockCommand.serveByProcess("--state", file);
    expect(await stateOf(second)).toEqual(before);
    expect([before.memberships.length, before.events.length, before.consentHistory.length]).toEqual([
      1, 1, 2,
    ]);
    // Faults and requests begin anew; no event, trigger or id is given twice.
    expect(await (await fetch(`${second.url}/__mock/requests`)).json()).toEqual([]);
    for (const [path, body] of [
      ["/api/v1/events", event],
      [ADD, ada],
      [ADD, { email: "grace@example.com" }],
    ] as const)
      expect((await post(second.url, path, body)).status).toBe(200);
    const { contacts, events, triggers } = await stateOf(second);
    expect([events.length, triggers.length, contacts.length]).toEqual([1, 2, 2]);
    expect(new Set([...contacts, ...events].map(({ id }) => id)).size).toBe(3);
    expect(await stop(second, "SIGINT")).toBe(0);

    const third = await mockCommand.serve("--state", file);
    expect((await stateOf(third)).contacts).toEqual(contacts);
  });

  it("is written at the end by SIGHUP, of a terminal that is closed", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);

    expect(await stop(first, "SIGHUP")).toBe(0);
    expect(contactsIn(file)).toHaveLength(1);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("is written soon after a change, for its owner alone, and without the end of the process", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);
    await eventually(() => expect(contactsIn(file)).toHaveLength(1));
    await stop(first, "SIGKILL");
    // Else the next one waits for it.
    rmSync(`${file}.lock`);
    const second = await mockCommand.serve("--state", file);

    expect((await stateOf(second)).contacts).toMatchObject([ada]);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("keeps a reset: the state is the seed's again", async () => {
    const seed = await mockCommand.write("people.csv", "email\ngrace@example.com\n");
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file, "--seed", seed);
    await post(first.url, ADD, ada);
    await post(first.url, "/__mock/reset", {});
    await stop(first);
    const second = await mockCommand.serve("--state", file, "--seed", seed);

    expect((await stateOf(second)).contacts).toMatchObject([{ email: "grace@example.com" }]);
  });

  it.each([
    ["a file that was cut off", (content: string) => content.slice(0, -20), "JSON"],
    ["another file", () => '{"name":"audience-sdk"}', "the saved state.format is required"],
    ["an empty file", () => "", "JSON"],
    [
      "a file of a later version",
      (content: string) => content.replace('"version":1', '"version":2'),
      "must be 1",
    ],
  ])("%s is refused with the way out, and untouched", async (_, damage, message) => {
    const file = await savedState();
    const damaged = damage(readFileSync(file, "utf8"));
    writeFileSync(file, damaged);
    const { code, errors } = await mockCommand.run("--port", "0", "--state", file);

    expect(code).toBe(1);
    expect(errors).toContain(`--state ${file}: `);
    expect(errors).toContain(message);
    expect(errors).toContain("The file is untouched.");
    expect(errors).not.toMatch(/^\s+at /m);
    expect(readFileSync(file, "utf8")).toBe(damaged);
  });

  it("a second mock of one file is refused, and the first goes on", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    const { code, errors } = await mockCommand.run("--port", "0", "--state", file);
    await post(first.url, ADD, ada);
    await stop(first);

    expect(code).toBe(1);
    expect(errors).toContain(`--state ${file}: another audience-mock keeps its state there`);
    expect(contactsIn(file)).toHaveLength(1);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
