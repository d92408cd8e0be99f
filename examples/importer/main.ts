// npx tsx examples/importer/main.ts --help
import { runImporter } from "./importer.ts";

const stop = new AbortController();
// The first Ctrl-C ends in good order; the default action is back for a second one.
process.once("SIGINT", () => stop.abort());

process.exitCode = await runImporter({
  args: process.argv.slice(2),
  output: process.stdout,
  errors: process.stderr,
  signal: stop.signal,
});
