// npm run import -- --help
import { runImporter } from "./importer.ts";

const stop = new AbortController();
let isOutputGone = false;
// The first Ctrl-C stops cleanly; a second one has the default action.
process.once("SIGINT", () => stop.abort());
// The reader of the output may close the pipe: `npm run import -- … | head`.
for (const output of [process.stdout, process.stderr])
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    isOutputGone = true;
    stop.abort();
  });

const code = await runImporter({
  args: process.argv.slice(2),
  output: process.stdout,
  errors: process.stderr,
  signal: stop.signal,
});
// A shell's exit code for a closed pipe.
process.exitCode = isOutputGone ? 141 : code;
