// Whether reading ahead hides the service's time behind the consumer's: `npx tsx test/benchmark/pagination.ts`.
// 100 pages of 100 items, 20 ms a page on either side. Prints ratios, and fails where one is over its bound.
import { setTimeout as delay } from "node:timers/promises";
import { Paginator } from "../../src/pagination/paginator.ts";

const pages = 100;
const itemsPerPage = 100;
const pageMs = 20;
const consumerMs = 20;
const bounds = { toIdeal: 1.15, toNoReadAhead: 0.6 };

interface Item {
  readonly id: string;
}

function listOfPages(readAhead: number): Paginator<Item> {
  return new Paginator<Item>({
    page: undefined,
    limit: itemsPerPage,
    readAhead,
    signal: undefined,
    async load(page = 1) {
      await delay(pageMs);
      const items = Array.from({ length: itemsPerPage }, (_, at) => ({ id: `${page}-${at}` }));
      return { items, totalPages: pages, raw: items };
    },
    identify: ({ id }) => id,
  });
}

/** The whole list, with the consumer's work done once per page, at its last item. */
async function readAll(readAhead: number): Promise<number> {
  const start = performance.now();
  let count = 0;
  for await (const _ of listOfPages(readAhead)) {
    count += 1;
    if (count % itemsPerPage === 0) await delay(consumerMs);
  }
  if (count !== pages * itemsPerPage) throw new Error(`${count} items instead of ${pages * itemsPerPage}`);
  return performance.now() - start;
}

/**
 * The time of the same timers if every page except the first is fetched while the consumer works. Measured, not
 * calculated: a timer of 20 ms takes longer, by an amount that depends on the machine.
 */
async function measureIdeal(): Promise<number> {
  const start = performance.now();
  await delay(pageMs);
  for (let page = 1; page < pages; page += 1) await Promise.all([delay(pageMs), delay(consumerMs)]);
  await delay(consumerMs);
  return performance.now() - start;
}

async function main(): Promise<void> {
  const calculatedMs = pageMs + pages * consumerMs;
  const idealMs = await measureIdeal();
  const readAheadMs = await readAll(1);
  const noReadAheadMs = await readAll(0);
  const toIdeal = readAheadMs / idealMs;
  const toNoReadAhead = readAheadMs / noReadAheadMs;
  const lines = [
    `ideal: ${idealMs.toFixed(0)} ms measured, ${calculatedMs} ms calculated`,
    `readAhead 1: ${readAheadMs.toFixed(0)} ms; readAhead 0: ${noReadAheadMs.toFixed(0)} ms`,
    `to the measured ideal: ${toIdeal.toFixed(3)} (at most ${bounds.toIdeal})`,
    `to the calculated ideal: ${(readAheadMs / calculatedMs).toFixed(3)}`,
    `to readAhead 0: ${toNoReadAhead.toFixed(3)} (at most ${bounds.toNoReadAhead})`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (toIdeal > bounds.toIdeal || toNoReadAhead > bounds.toNoReadAhead) process.exitCode = 1;
}

await main();
