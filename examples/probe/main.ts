// npm run probe [-- --help]
import { runProbe } from "./probe.ts";

const stop = new AbortController();
// The first Ctrl-C stops cleanly; a second one has the default action.
process.once("SIGINT", () => stop.abort());

process.exitCode = await runProbe({
  args: process.argv.slice(2),
  output: process.stdout,
  errors: process.stderr,
  signal: stop.signal,
});
