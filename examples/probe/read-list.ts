import { AudienceClient, isAudienceError, type ParsePage } from "audience-sdk";
import { isJson, type Reply } from "./answer.ts";
import { writeParsePage, type WrittenParsePage } from "./parse-page.ts";
import { isObject } from "./shape.ts";

/** A list of v1, as the client reads it. */
export interface ReadList {
  readonly ids: readonly string[];
  /** The attributes that have a value in one of its items. */
  readonly attributes: readonly string[];
  /** Whether it tells the number of all items. */
  readonly hasTotal: boolean;
  /** Why the client cannot read it by itself. */
  readonly problem?: string;
  /** The `parsePage` for it. Missing where none is known. */
  readonly parsePage?: WrittenParsePage | undefined;
}

const nothing = { ids: [], attributes: [], hasTotal: false };

/** Hands the body of a list to a client of its own, which sends nothing: only the client knows what it can read. */
export async function readList(resource: "customers" | "contactGroups", reply: Reply): Promise<ReadList> {
  if (!isJson(reply)) return nothing;
  const read = async (parsePage?: ParsePage): Promise<Pick<ReadList, "ids" | "attributes" | "hasTotal">> => {
    const client = new AudienceClient({
      baseUrl: "https://nothing-is-sent.invalid",
      apiKey: "none",
      rateLimiter: false,
      fetch: async () => Response.json(reply.body),
      parsePage,
    });
    const { items, totalItems } = await client.v1[resource].list();
    return {
      ids: items.map(({ id }) => id),
      attributes: [...new Set(items.flatMap(shownAttributes))],
      hasTotal: totalItems !== undefined,
    };
  };
  const parsePage = writeParsePage(reply.body);
  try {
    return { ...(await read()), parsePage };
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    const { message: problem } = error;
    if (parsePage === undefined) return { ...nothing, problem };
    try {
      return { ...(await read(parsePage.parse)), problem, parsePage };
    } catch (second) {
      if (!isAudienceError(second)) throw second;
      return { ...nothing, problem: second.message };
    }
  }
}

function shownAttributes(item: Readonly<Record<string, unknown>>): string[] {
  const { attributes } = item;
  if (!isObject(attributes)) return [];
  return Object.keys(attributes).filter((name) => (attributes[name] ?? "") !== "");
}
