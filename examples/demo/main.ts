// npm run demo [-- --help]
import { runDemo } from "./demo.ts";

const stop = new AbortController();
// The first Ctrl-C stops cleanly; a second one has the default action.
process.once("SIGINT", () => stop.abort());

process.exitCode = await runDemo({
  args: process.argv.slice(2),
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: stop.signal,
});
