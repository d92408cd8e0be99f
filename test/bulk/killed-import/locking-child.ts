// Opens a checkpoint again and again, and notes when it is inside: node child.mjs CHECKPOINT NOTES TIMES
import { appendFileSync } from "node:fs";
import { fileCheckpoint } from "audience-sdk/checkpoint";

const [checkpoint = "", notes = "", times = ""] = process.argv.slice(2);
for (let inside = 0; inside < Number(times); inside++) {
  const open = await fileCheckpoint(checkpoint).open();
  appendFileSync(notes, `${process.pid} in\n`);
  for await (const _ of open.lines) continue;
  await open.append(`[${process.pid}]`, { flush: false });
  await new Promise((resolve) => setTimeout(resolve, 5));
  appendFileSync(notes, `${process.pid} out\n`);
  // The last one is killed in its lock.
  if (inside < Number(times) - 1) await open.close();
}
process.kill(process.pid, "SIGKILL");
