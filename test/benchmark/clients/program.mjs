// One process with one client: `node program.mjs CLIENT SERVICE [cjs]`, with what `service.mjs` has printed.
// Prints its figures as JSON; of the client `empty` what Node itself takes, and with `cjs` only what its start takes.
import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const calls = 200;
const workMs = 20;
const waitingCalls = 500;

const [name, service, format] = process.argv.slice(2);
const { urls, pages, pageSize } = JSON.parse(service);

const { construct, call, read } = await load();
const first = construct(urls.prompt, true);
const constructed = sinceStart();
const isStart = name === "empty" || format === "cjs";
console.log(JSON.stringify(isStart ? { constructed } : await measureCalls()));
// The calls in `memoryOfWaiting` never end.
process.exit();

async function load() {
  if (name === "empty") return { construct() {} };
  return format === "cjs" ? createRequire(import.meta.url)(`./${name}.cjs`) : await import(`./${name}.mjs`);
}

async function measureCalls() {
  await checkedCall(first);
  const called = sinceStart();

  const client = construct(urls.prompt, false);
  await repeat(calls, () => checkedCall(client)); // the compiler warms up
  const perCall = await repeat(calls, () => checkedCall(client));
  await repeat(3, () => readAll(client));
  const perRead = await repeat(5, () => readAll(client));
  const slow = construct(urls.slow, false);
  const withWork = await repeat(1, () => readAll(slow, () => wait(workMs)));

  return {
    constructed,
    called,
    perCall,
    perPage: { wallMs: perRead.wallMs / pages, cpuMs: perRead.cpuMs / pages },
    perWorkedPage: { wallMs: withWork.wallMs / pages },
    waitingBytes: await memoryOfWaiting(construct(urls.silent, true)),
  };
}

/** Since the start of the process, with what Node itself takes. */
function sinceStart() {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1_000 };
}

async function repeat(times, action) {
  const before = sinceStart();
  for (let time = 0; time < times; time += 1) await action();
  const after = sinceStart();
  return { wallMs: (after.wallMs - before.wallMs) / times, cpuMs: (after.cpuMs - before.cpuMs) / times };
}

async function checkedCall(client) {
  const id = await call(client);
  if (id !== "one") throw new Error(`${name}: the call resolved to ${id}`);
}

/** Items come one by one from a client that has an iterator, else page by page. */
async function readAll(client, workOnPage) {
  let count = 0;
  for await (const found of read(client)) {
    count += Array.isArray(found) ? found.length : 1;
    if (workOnPage !== undefined && count % pageSize === 0) await workOnPage();
  }
  if (count !== pages * pageSize) throw new Error(`${name}: ${count} items`);
}

/** Of calls that are made at once, to a service that does not respond. */
async function memoryOfWaiting(client) {
  const before = await bytesInUse();
  const waiting = Array.from({ length: waitingCalls }, () => call(client));
  for (const one of waiting) one.catch(() => {}); // they end with the process
  await wait(500); // until those that need no permit are sent
  return ((await bytesInUse()) - before) / waitingCalls;
}

async function bytesInUse() {
  // Not a flag of the command: with one, Node loads its own modules, such as those of `fetch`, without their code cache.
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  collectGarbage();
  await wait(10);
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
