import type { DecodedPage } from "../pagination/has-next-page.ts";
import { isRecord } from "../schema/kind-of.ts";
import {
  describeShape,
  parseCount,
  parseId,
  type JsonObject,
  UndecodableResponse,
} from "../schema/response.ts";
import type { List } from "./schemas/list.ts";

/**
 * Decodes a page of lists (`GET /v2/lists`). `data.lists` and each `uuid` are required; totals and page size are
 * optional.
 */
export function parseListPage(body: unknown): DecodedPage<List> {
  const data = isRecord(body) ? body["data"] : undefined;
  if (!isRecord(data)) throw new UndecodableResponse(`${listsMissing}: it is ${describeShape(body)}.`);
  const lists = listsOf(data);
  if (!lists) throw new UndecodableResponse(`${listsMissing}: its \`data\` is ${describeShape(data)}.`);
  if (lists.length === 0 && isRecord(body) && body["success"] === false) {
    throw new UndecodableResponse("its body holds no lists and says that the call failed.");
  }
  return {
    items: lists.map(decodeList),
    limit: parseCount(data["items_per_page"]),
    totalItems: parseCount(data["total_items"]),
    totalPages: parseCount(data["total_pages"]),
    raw: body,
  };
}

const listsMissing = "its body lacks the array `data.lists`";

/** Some servers write an empty array as null. It counts as empty only with a total of 0. */
function listsOf({ lists, total_items }: JsonObject): readonly unknown[] | undefined {
  if (lists === null && parseCount(total_items) === 0) return [];
  return Array.isArray(lists) ? lists : undefined;
}

function decodeList(value: unknown, at: number): List {
  const uuid = isRecord(value) ? parseId(value["uuid"]) : undefined;
  if (!isRecord(value) || uuid === undefined) {
    throw new UndecodableResponse(
      `\`data.lists[${at}]\` of its body has no \`uuid\`: it is ${describeShape(value)}.`,
    );
  }
  return { ...value, uuid };
}
