// Opens a checkpoint again and again, and writes down when it is inside: node child.mjs CHECKPOINT DIARY TIMES
import { appendFileSync } from "node:fs";
import { fileCheckpoint } from "audience-sdk/checkpoint";

// Its time is ten times as fast: else each kill would cost 27.5 seconds.
const { setTimeout: later, setInterval: often } = globalThis;
Object.assign(globalThis, {
  setTimeout: (run: () => void, delayMs: number) => later(run, delayMs / 10),
  setInterval: (run: () => void, delayMs: number) => often(run, delayMs / 10),
});

const [checkpoint = "", diary = "", times = ""] = process.argv.slice(2);
for (let inside = 0; inside < Number(times);) {
  const open = await fileCheckpoint(checkpoint)
    .open()
    .catch((error: unknown) => {
      if (!String(error).includes("is in use")) throw error;
    });
  if (!open) continue;
  appendFileSync(diary, `${process.pid} in\n`);
  for await (const _ of open.entries) continue;
  await open.put("pid", String(process.pid), { flush: false });
  await new Promise((resolve) => setTimeout(resolve, 50));
  appendFileSync(diary, `${process.pid} out\n`);
  inside += 1;
  // The last one is killed in its lock.
  if (inside < Number(times)) await open.close();
}
process.kill(process.pid, "SIGKILL");
