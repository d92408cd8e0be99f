import { UndecodableResponse } from "../schema/response-values.ts";
import { describeShape } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";

/** Decodes the items of a page. The first one without an `id` ends the decoding: `decodeItem` gives undefined for it. */
export function decodeItems<T>(
  items: readonly unknown[],
  decodeItem: (item: unknown) => T | undefined,
  id: string,
  wayOut = "",
): T[] {
  return items.map((item, index) => {
    const decoded = decodeItem(item);
    if (decoded !== undefined) return decoded;
    throw new UndecodableResponse(
      `item ${index} of its list has no usable \`${id}\`: it is ${describeShape(item)}.${wayOut}`,
    );
  });
}

/** A 2xx without items that reports a failure must not become an empty list (D28). */
export function refuseFailure(items: readonly unknown[], body: unknown): void {
  if (items.length > 0 || !isRecord(body)) return;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  if (success === false || status === false || status === "error" || hasErrors)
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
}
