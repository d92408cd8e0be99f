import { describeShape, readCount, readId, type JsonObject } from "../answer-value.ts";
import { isRecord } from "../is-object.ts";
import type { PageReading } from "../pagination.ts";
import { UnreadableAnswer } from "../unreadable-answer.ts";
import type { List } from "./schemas/list.ts";

/**
 * Reads a page of lists (`GET /v2/lists`). Needed is `data.lists`, and the `uuid` of each; totals and page size are
 * taken where they are there.
 */
export function readListPage(body: unknown): PageReading<List> {
  const data = isRecord(body) ? body["data"] : undefined;
  if (!isRecord(data)) throw new UnreadableAnswer(`${wanted}: it is ${describeShape(body)}.`);
  const lists = listsOf(data);
  if (!lists) throw new UnreadableAnswer(`${wanted}: its \`data\` is ${describeShape(data)}.`);
  if (lists.length === 0 && isRecord(body) && body["success"] === false) {
    throw new UnreadableAnswer("its body holds no lists and says that the call failed.");
  }
  return {
    items: lists.map(readList),
    limit: readCount(data["items_per_page"]),
    totalItems: readCount(data["total_items"]),
    totalPages: readCount(data["total_pages"]),
    raw: body,
  };
}

const wanted = "its body lacks the array `data.lists`";

/** Some servers write an empty array as null. Taken for one only where the total says so too. */
function listsOf({ lists, total_items }: JsonObject): readonly unknown[] | undefined {
  if (lists === null && readCount(total_items) === 0) return [];
  return Array.isArray(lists) ? lists : undefined;
}

function readList(value: unknown, at: number): List {
  const uuid = isRecord(value) ? readId(value["uuid"]) : undefined;
  if (!isRecord(value) || uuid === undefined) {
    throw new UnreadableAnswer(
      `\`data.lists[${at}]\` of its body has no \`uuid\`: it is ${describeShape(value)}.`,
    );
  }
  return { ...value, uuid };
}
