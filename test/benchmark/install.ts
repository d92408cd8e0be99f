// What an installation costs, beside other clients: `npx tsx test/benchmark/install.ts`.
import { join } from "node:path";
import { fileSizes } from "../package/installed-files.ts";
import { installPeers } from "./peers/install.ts";

const { folders, remove } = await installPeers();
try {
  for (const [name, folder] of folders) {
    const sizes = fileSizes(join(folder, "node_modules"));
    const packages = new Set(
      [...sizes.keys()].flatMap(
        (path) => /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/.@][^/]*\/package\.json$/.exec(path) ?? [],
      ),
    );
    let bytes = 0;
    for (const [path, size] of sizes) if (!path.startsWith(".")) bytes += size;
    const megabytes = (bytes / 1e6).toFixed(2).padStart(6);
    process.stdout.write(
      `${name.padEnd(18)} ${String(packages.size).padStart(3)} packages  ${megabytes} MB\n`,
    );
  }
} finally {
  await remove();
}
