// The calls of each limiter over time against the three limits, as an SVG of plain shapes. It brings its own background,
// so that it is readable on any page.
import { DOCUMENTED_WINDOWS } from "audience-sdk";
import { idealMs } from "../rate-limiter/simulation.ts";
import { type Arrival, type Beside, callsPerHour, hours } from "./limiters.ts";

const shown = ["audience-sdk", "bottleneck", "p-throttle, strict"];
/** Those with priorities. */
const shownBeside = ["audience-sdk", "bottleneck"];
const [left, top, plotWidth, laneHeight, laneGap] = [84, 64, 640, 96, 40];
const width = left + plotWidth + 24;
const [firstMs, lastMs] = [100, 3 * 3_600_000];
const besideHeight = 72;
const ticks = [
  [1_000, "1 s"],
  [10_000, "10 s"],
  [60_000, "1 min"],
  [600_000, "10 min"],
  [3_600_000, "1 h"],
  [7_200_000, "2 h"],
] as const;

/** Both axes are logarithmic, as the limits are. */
function x(timeMs: number): number {
  return Math.round(
    left + (plotWidth * Math.log(Math.max(timeMs, firstMs) / firstMs)) / Math.log(lastMs / firstMs),
  );
}
function height(calls: number): number {
  return Math.round((laneHeight * Math.log(calls)) / Math.log(2_000));
}

/** A staircase from the bottom of a lane: each call raises it at its time. */
function staircase(timesMs: readonly number[], bottom: number): string {
  let path = `M${left} ${bottom}`;
  let [atX, atY] = [left, bottom];
  for (const [before, timeMs] of timesMs.entries()) {
    const [toX, toY] = [x(timeMs), bottom - height(before + 1)];
    if (toX > atX) path += `H${toX}`;
    if (toX > atX || before === 0) atX = toX;
    if (toY !== atY) path += `V${toY}`;
    atY = toY;
  }
  return path;
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function pictureOf(
  arrivalsOf: ReadonlyMap<string, readonly Arrival[]>,
  ofImport: readonly Beside[],
): string {
  const beside = ofImport.filter(({ name }) => shownBeside.includes(name));
  const lanes = shown.flatMap((name) => {
    const arrivals = arrivalsOf.get(name);
    return arrivals === undefined ? [] : [{ name, arrivals }];
  });
  const bottomOf = (lane: number) => top + laneHeight + lane * (laneHeight + laneGap);
  const axis = bottomOf(lanes.length - 1);
  const topBeside = axis + 106;
  const bottomBeside = (lane: number) => topBeside + besideHeight + lane * (besideHeight + laneGap);
  const end = bottomBeside(beside.length - 1) + 30;
  const title =
    "2,000 calls through three limiters, against 10 a second, 100 a minute and 1,000 an hour; and the waits of calls beside an import";
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${end}" width="${width}" height="${end}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#fff"/>`,
    `<text x="${left}" y="24">Calls at the service over time, of 2,000 made at once; both axes logarithmic</text>`,
    ...lanes.flatMap(({ name, arrivals }, lane) => laneOf(name, arrivals, bottomOf(lane))),
    ...ticks.map(([ms, label]) => `<text x="${x(ms)}" y="${axis + 18}" text-anchor="middle">${label}</text>`),
    `<path d="M${left} ${axis + 36}h28" stroke="#1f2328" stroke-dasharray="4 3"/><text x="${left + 34}" y="${axis + 40}">the limits</text>`,
    `<rect x="${left + 120}" y="${axis + 30}" width="12" height="12" fill="#9ecae1"/><text x="${left + 138}" y="${axis + 40}">calls accepted</text>`,
    `<path d="M${left + 256} ${axis + 29}v13" stroke="#d1242f" stroke-width="2"/><text x="${left + 264}" y="${axis + 40}">a call refused with 429</text>`,
    `<text x="${left}" y="${topBeside - 38}">Waits of ${callsPerHour * hours} calls at random moments beside an endless import, over ${hours} hours</text>`,
    ...beside.flatMap((each, lane) => laneBeside(each, bottomBeside(lane))),
    ...Array.from(
      { length: hours + 1 },
      (_, hour) =>
        `<text x="${left + (plotWidth * hour) / hours}" y="${end - 12}" text-anchor="middle">${hour} h</text>`,
    ),
    "</svg>",
  ].join("\n")}\n`;
}

function gridLine(y: number, label: string): string {
  return `<path d="M${left} ${y}h${plotWidth}" stroke="#d0d7de"/><text x="${left - 8}" y="${y + 4}" text-anchor="end">${label}</text>`;
}

function laneOf(name: string, arrivals: readonly Arrival[], bottom: number): string[] {
  const accepted = arrivals.flatMap(({ atMs, isRefused }) => (isRefused ? [] : [atMs]));
  const refused = arrivals.flatMap(({ atMs, isRefused }) => (isRefused ? [atMs] : []));
  const permitted = accepted.map((_, call) => idealMs(call + 1));
  const marks = [...new Set(refused.map(x))].map((at) => `M${at} ${bottom}v-14`).join("");
  const result = `${refused.length} refused, the last accepted after ${duration(accepted.at(-1) ?? Number.NaN)}`;
  return [
    `<text x="${left}" y="${bottom - laneHeight - 10}"><tspan font-weight="600">${name}</tspan>: ${result}</text>`,
    ...DOCUMENTED_WINDOWS.map(({ limit }, window) =>
      gridLine(bottom - height(limit), `${limit.toLocaleString("en")} / ${["s", "min", "h"][window]}`),
    ),
    `<path d="${staircase(accepted, bottom)}V${bottom}Z" fill="#9ecae1"/>`,
    `<path d="${staircase(permitted, bottom)}" fill="none" stroke="#1f2328" stroke-dasharray="4 3"/>`,
    ...(marks === "" ? [] : [`<path d="${marks}" stroke="#d1242f" stroke-width="2"/>`]),
    `<path d="M${left} ${bottom}h${plotWidth}" stroke="#1f2328"/>`,
  ];
}

/** A dot for each call: its moment and its wait, from none to an hour. */
function laneBeside({ name, calls, rows }: Beside, bottom: number): string[] {
  const y = (waitMs: number): number =>
    Math.round(bottom - (besideHeight * Math.log(Math.max(waitMs, 1_000) / 1_000)) / Math.log(3_600));
  const dots = calls.map(
    ({ askedAtMs, waitMs }) =>
      `M${Math.round(left + (plotWidth * askedAtMs) / (hours * 3_600_000))} ${y(waitMs)}h0`,
  );
  const late = calls.filter(({ waitMs }) => waitMs > 2_000).length;
  const longest = Math.max(...calls.map(({ waitMs }) => waitMs));
  const longestWait = longest < 1_000 ? "under a second" : `${Math.round(longest / 60_000)} min`;
  const waits = `${late} wait over 2 s, the longest ${longestWait}; ${rows.toLocaleString("en")} rows`;
  return [
    `<text x="${left}" y="${bottom - besideHeight - 10}"><tspan font-weight="600">${name}</tspan>: ${waits}</text>`,
    gridLine(y(1_000), "≤ 1 s"),
    gridLine(y(60_000), "1 min"),
    gridLine(y(3_600_000), "1 h"),
    `<path d="${[...new Set(dots)].join("")}" stroke="#0969da" stroke-width="5" stroke-linecap="round"/>`,
  ];
}
