import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { runNode, type Outcome } from "../package/programs.ts";
import { consentsOf, post, startMock, startServer } from "./server-program.ts";

const next = "node_modules/next/dist/bin/next";
const quiet = { NEXT_TELEMETRY_DISABLED: "1" };

// What `create-next-app` writes.
const tsconfig = {
  compilerOptions: {
    target: "ES2022",
    lib: ["dom", "dom.iterable", "esnext"],
    strict: true,
    noEmit: true,
    esModuleInterop: true,
    module: "esnext",
    moduleResolution: "bundler",
    resolveJsonModule: true,
    isolatedModules: true,
    skipLibCheck: true,
    jsx: "preserve",
    incremental: true,
    plugins: [{ name: "next" }],
  },
  include: ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"],
  exclude: ["node_modules"],
};

async function build(folder: string): Promise<Outcome> {
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  return runNode(folder, next, "build");
}

/** Fills in a form as a browser without scripts does; resolves to where the action leads. */
async function submit(url: string, fields: Record<string, string>): Promise<string> {
  const page = await (await fetch(url)).text();
  const form = new FormData();
  for (const [input] of page.matchAll(/<input type="hidden"[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1] ?? "";
    form.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? "");
  }
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const response = await fetch(url, { method: "POST", body: form, redirect: "manual" });
  return response.headers.get("location") ?? `${response.status}`;
}

const projects = (["next 14", "next 15"] as const).flatMap((name) => {
  const folder = inject("projects")[name];
  return folder === undefined ? [] : [{ name, folder }];
});

describe.each(projects)("The recipe for $name", ({ folder }) => {
  let built: Outcome;
  beforeAll(async () => {
    await rm(join(folder, ".next"), { recursive: true, force: true });
    built = await build(folder);
  });

  async function start() {
    const service = await startMock();
    const env = { ...service.env, ...quiet };
    return { ...service, ...(await startServer([next, "start"], { folder, env })) };
  }

  it("builds without secrets, with the types of Next", () => {
    expect(built.exitCode, built.stdout + built.stderr).toBe(0);
  });

  it("subscribes a person by its form, and the page shows an opt-out at once", async () => {
    const { url, mock } = await start();

    const target = await submit(url, { email: "ada@example.com" });
    const shown = async () => /<p>(\w+)<\/p>/.exec(await (await fetch(new URL(target, url))).text())?.[1];
    const before = await shown();
    mock.unsubscribe("ada@example.com");

    expect([before, await shown()]).toEqual(["SUBSCRIBED", "UNSUBSCRIBED"]);
    expect(consentsOf(mock)).toEqual({ "ada@example.com": "UNSUBSCRIBED" });
  });

  it("leads back to the form with a problem", async () => {
    const { url, mock } = await start();

    expect(await submit(url, { email: "nobody" })).toContain("/?problem=address");
    mock.addFault({ kind: "500-before", times: 5 });
    expect(await submit(url, { email: "ada@example.com" })).toContain("/?problem=later");
    expect(await (await fetch(`${url}/?problem=later`)).text()).toContain("Please try again later.");
  });

  it("records an event by its route handler, and answers an invalid one with its problems", async () => {
    const { url, mock } = await start();

    const event = { eventName: "signed_up", contact: { email: "ada@example.com" } };
    expect(await post(`${url}/api/events`, event)).toMatchObject({ status: 200 });
    expect(await post(`${url}/api/events`, { contact: {} })).toMatchObject({ status: 400 });

    expect(mock.organization("mock-organization").events).toMatchObject([{ eventName: "signed_up" }]);
  });

  it("answers an unknown contact with 404", async () => {
    const { url } = await start();

    expect((await fetch(`${url}/contacts/nobody`)).status).toBe(404);
  });
});
