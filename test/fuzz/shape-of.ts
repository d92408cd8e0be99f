import { types } from "node:util";

const mostNodes = 5_000;
const prototypesWithState: ReadonlySet<unknown> = new Set([
  AbortSignal.prototype,
  ReadableStream.prototype,
  Response.prototype,
]);

/**
 * The structure of a value, as a string to compare: names, types and plain values of its own properties, at any depth
 * up to a bound. Runs no getter and no trap.
 */
export function shapeOf(root: unknown): string {
  const numbers = new Map<object, number>();
  const open: unknown[] = [root];
  const shape: string[] = [];
  for (let at = 0; at < open.length && at < mostNodes; at++) {
    const value = open[at];
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    if (!isObject) {
      shape.push(typeof value === "string" ? `${value.length}:${value.slice(0, 40)}` : String(value));
      continue;
    }
    const seenAs = numbers.get(value);
    shape.push(seenAs === undefined ? "new" : `seen ${seenAs}`);
    if (seenAs !== undefined || types.isProxy(value) || ArrayBuffer.isView(value)) continue;
    // Listening to it or reading it changes its internal state.
    if (prototypesWithState.has(Object.getPrototypeOf(value))) continue;
    numbers.set(value, at);
    shape.push(Object.isFrozen(value) ? "frozen" : Object.isExtensible(value) ? "open" : "closed");
    for (const name of Reflect.ownKeys(value).slice(0, 1_100)) {
      const property = Object.getOwnPropertyDescriptor(value, name);
      shape.push(String(name), property && "value" in property ? "value" : "accessor");
      if (property && "value" in property) open.push(property.value);
    }
  }
  return shape.join("\n");
}
