import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { createMockService, type MockService, type MockServiceOptions } from "audience-sdk/mock";
import type { SnapshotContact } from "audience-sdk/snapshot";
import { onTestFinished } from "vitest";

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;
type Fetch = NonNullable<ClientOptions["fetch"]>;

/** The contacts `person-0@example.com` and on, each with a phone. */
export function people(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    email: `person-${index}@example.com`,
    phone: `+4917100${String(index).padStart(5, "0")}`,
    first_name: "Ada",
    email_opt_in: "SUBSCRIBED" as const,
  }));
}

/** An organization `acme` with so many contacts, a client of it, and a folder for snapshots. */
export function createAudience(
  count: number,
  { clientOptions = {}, ...mockOptions }: MockServiceOptions & { clientOptions?: ClientOptions } = {},
) {
  const mock = createMockService({
    organizations: [
      {
        id: "acme",
        apiKeys: ["mock-key-acme", "mock-key-acme-2"],
        appId: "app-acme",
        contacts: people(count),
      },
      { id: "globex", apiKeys: ["mock-key-globex"], appId: "app-globex", contacts: people(1) },
    ],
    ...mockOptions,
    variants: { v1Paging: "totals", ...mockOptions.variants },
  });
  const client = (options: ClientOptions = {}) =>
    new AudienceClient({
      baseUrl: "https://api.example",
      apiKey: "mock-key-acme",
      fetch: mock.fetch,
      rateLimiter: false,
      maxRetries: 0,
      ...clientOptions,
      ...options,
    });
  const folder = temporaryFolder();
  const file = join(folder, "audience.ndjson");
  return { mock, client, audience: client(), folder, file };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "snapshot-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The lines of a file, parsed. */
export function linesOf(file: string): Record<string, unknown>[] {
  const text = readFileSync(file, "utf8");
  // Safe: the tests compare them.
  return text
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

/** The contacts of a snapshot, in the order of the file. */
export async function contactsOf(snapshot: AsyncIterable<SnapshotContact>): Promise<SnapshotContact[]> {
  return await collect(snapshot);
}

export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

/** A fetch that fails from this request on, as a process that is killed sends no more. */
export function failingFrom(request: number, fetch: Fetch): Fetch {
  let count = 0;
  return async (url, init) => {
    count += 1;
    if (count >= request) throw new TypeError("killed");
    return await fetch(url, init);
  };
}

/** A fetch after whose responses something happens at the service. */
export function afterEach(fetch: Fetch, happens: () => Promise<void> | void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    await happens();
    return response;
  };
}

/** A contact is created: a list with the newest first shifts by one. */
export async function create(mock: MockService): Promise<void> {
  const email = `new-${mock.requests.length}@example.com`;
  await mock.fetch("https://api.example/api/v1/customer/create", {
    method: "POST",
    headers: { "X-API-Key": "mock-key-acme", "Content-Type": "application/json" },
    body: JSON.stringify({ email }),
  });
}
