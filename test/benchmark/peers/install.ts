import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "../../package/setup.ts";

/** Clients of other services, each installed as a user would. */
const peers = [
  "@octokit/core",
  "@slack/web-api",
  "openai",
  "stripe",
  "@anthropic-ai/sdk",
  "klaviyo-api",
] as const;

export interface Installed {
  /** A folder for each, by its name, and one for ours. */
  readonly folders: ReadonlyMap<string, string>;
  readonly remove: () => Promise<void>;
}

/** Installs our packed package and all peers, each in a folder of its own; says which could not be had. */
export async function installPeers(): Promise<Installed> {
  const folders = new Map<string, string>();
  const removeOwn = await setup({
    provide(name, value) {
      if (name === "consumer" && typeof value === "string") folders.set("audience-sdk", value);
    },
  });
  const above = mkdtempSync(join(tmpdir(), "audience-sdk-peers-"));
  for (const peer of peers) {
    const folder = join(above, peer.replace("/", "-"));
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    try {
      const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--omit=peer", "--ignore-scripts"];
      execFileSync("npm", ["install", ...flags, peer], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      folders.set(peer, folder);
    } catch (error) {
      process.stderr.write(`NOT RUN: ${peer} could not be installed: ${String(error)}\n`);
    }
  }
  return {
    folders,
    async remove() {
      await removeOwn();
      rmSync(above, { recursive: true, force: true });
    },
  };
}
