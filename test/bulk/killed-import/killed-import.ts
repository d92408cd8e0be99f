import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService, type MockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { bundleProgram } from "../../bundle-program.ts";
import { type ImportRow, importRows, rowOf } from "./rows.ts";

/** One life of the importing process. */
export interface Life {
  /** The rows that were sent to the service, in order. */
  readonly sent: readonly string[];
  /** The rows whose success was recorded when it began. */
  readonly recordedBefore: ReadonlySet<string>;
}

export interface KilledImport {
  readonly mock: MockService;
  readonly rows: readonly ImportRow[];
  readonly lives: readonly Life[];
  /** What the last life printed. */
  readonly summary: {
    total: number;
    succeeded: number;
    skipped: number;
    failed: number;
    unknown: number;
    ids: string[];
  };
}

/**
 * Imports rows in a process that is killed several times, each time at a random moment, against a mock
 * over real HTTP; the last life runs to its end.
 */
export async function killedImport(o: {
  rows: number;
  kills: number;
  concurrency: number;
  longestLifeMs: number;
}): Promise<KilledImport> {
  const rows = [...importRows(o.rows)];
  const mock = createMockService({ latencyMs: [10, 60] });
  const server = await mock.listen({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), "killed-import-"));
  const checkpoint = join(folder, "import.ckpt");
  const program = join(folder, "child.mjs");
  await bundleProgram("test/bulk/killed-import/child.ts", program);
  const lives: Life[] = [];
  let printed = "";
  try {
    for (let life = 0; life <= o.kills; life++) {
      const recordedBefore = await recordedIn(checkpoint, rows);
      const before = mock.requests.length;
      const args = [
        program,
        server.url,
        server.clientOptions.apiKey,
        checkpoint,
        String(o.rows),
        String(o.concurrency),
      ];
      const kill =
        life < o.kills ? { whenAfter: before, afterMs: Math.random() * o.longestLifeMs } : undefined;
      printed = await live(args, mock, kill);
      // Else the next life would wait half a minute for it.
      await rm(`${checkpoint}.lock`, { force: true });
      // Requests of the killed process may still be in flight in the mock.
      await new Promise((resolve) => setTimeout(resolve, 100));
      lives.push({ sent: mock.requests.slice(before).map(({ body }) => rowOf(body)), recordedBefore });
    }
    return { mock, rows, lives, summary: JSON.parse(printed) as KilledImport["summary"] };
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}

/** Runs until it is killed `afterMs` after its first request, or until it ends. Returns its output. */
async function live(
  args: string[],
  mock: MockService,
  kill: { whenAfter: number; afterMs: number } | undefined,
): Promise<string> {
  const { child, ended } = start(process.execPath, args);
  if (kill) {
    const timer = setInterval(() => {
      if (mock.requests.length <= kill.whenAfter) return;
      clearInterval(timer);
      setTimeout(() => child.kill("SIGKILL"), kill.afterMs);
    }, 1);
    void ended.then(() => clearInterval(timer));
  }
  const { code, by, out, errors } = await ended;
  if (by === "SIGKILL" || code === 0) return out;
  throw new Error(`The import ended with ${code ?? by}: ${errors}`);
}

/** A program, and what it has printed once it has ended. */
function start(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = new Promise<{ code: number | null; by: string | null; out: string; errors: string }>(
    (resolve) => child.on("close", (code, by) => resolve({ code, by, out, errors })),
  );
  return { child, ended };
}

/** The rows whose success is recorded; an entry is named by a hash of the key. */
async function recordedIn(path: string, rows: readonly ImportRow[]): Promise<ReadonlySet<string>> {
  const checkpoint = await fileCheckpoint(path).open();
  try {
    const succeeded = new Set<string>();
    for await (const [name, line] of checkpoint.entries)
      if (line.startsWith('["succeeded"')) succeeded.add(name.slice("row:".length));
    return new Set(rows.map(({ id }) => id).filter((id) => succeeded.has(hashOf(id))));
  } finally {
    await checkpoint.close();
  }
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest().subarray(0, 12).toString("base64url");
}

/** The rules for every import that was killed and then completed. */
export function expectNothingLostOrDoubled(
  { mock, rows, lives, summary }: KilledImport,
  concurrency: number,
): void {
  const { contacts, events } = mock.organization("mock-organization");
  const kinds = new Map(rows.map(({ id, kind }) => [id, kind]));
  const sends = countOf(lives.flatMap(({ sent }) => sent));

  const sentAgainThoughRecorded = lives.flatMap(({ sent, recordedBefore }) =>
    sent.filter((id) => recordedBefore.has(id)),
  );
  expect(sentAgainThoughRecorded).toEqual([]);

  const unrepeatableSentTwice = [...sends].filter(
    ([id, times]) => kinds.get(id) === "double opt-in" && times > 1,
  );
  expect(unrepeatableSentTwice).toEqual([]);

  for (const [index, { sent }] of lives.entries()) {
    const later = new Set(lives.slice(index + 1).flatMap((life) => life.sent));
    expect(sent.filter((id) => later.has(id)).length).toBeLessThanOrEqual(concurrency);
  }

  const stored = new Set(contacts.map(({ email }) => email?.replace("@example.com", "")));
  const lostRows = rows.filter(({ id }) => !stored.has(id) && !summary.ids.includes(id));
  expect(lostRows).toEqual([]);
  expect(summary.ids.every((id) => kinds.get(id) === "double opt-in")).toBe(true);
  expect(summary.ids.length).toBeLessThanOrEqual((lives.length - 1) * concurrency);

  // An event that is sent twice is recorded once, because it has the same id both times.
  expect(events).toHaveLength(rows.filter(({ kind }) => kind === "event").length);
  expect(summary).toMatchObject({ total: rows.length, failed: 0 });
}

function countOf(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** A command that runs a program among processes of its own, as a container does: its first one has the id 1. */
const unshare = ["unshare", "-pf", "--mount-proc", "--kill-child=SIGKILL"] as const;

const hasContainers = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

/** A suite that needs process namespaces. Without them it does not run, and that is reported; in CI as a failure. */
export function describeWithContainers(title: string, suite: () => void): void {
  if (hasContainers) describe(title, suite);
  else {
    it(`${title}: NOT SHOWN, there are no process namespaces (fails where CI=true)`, () => {
      console.warn(`Not shown: ${title}. It needs Linux, the program unshare, and the right to use it.`);
      expect(process.env["CI"]).not.toBe("true");
    });
  }
}

/** Node in a container. */
export function runInContainer(args: readonly string[]) {
  return start(unshare[0], [...unshare.slice(1), process.execPath, ...args]);
}
