import { AudienceClient, isAudienceError, type ParsePage } from "audience-sdk";
import { isJson, type Reply } from "./answer.ts";
import { writeParsePage, type WrittenParsePage } from "./parse-page.ts";

/** A list of v1, as the client reads it. */
export interface ReadList {
  readonly ids: readonly string[];
  /** Why the client cannot read it by itself. */
  readonly problem?: string;
  /** The `parsePage` for it. Missing where none is known. */
  readonly parsePage?: WrittenParsePage | undefined;
}

/** Hands the body of a list to a client of its own, which sends nothing: only the client knows what it can read. */
export async function readList(resource: "customers" | "contactGroups", reply: Reply): Promise<ReadList> {
  if (!isJson(reply)) return { ids: [] };
  const idsWith = async (parsePage?: ParsePage): Promise<string[]> => {
    const client = new AudienceClient({
      baseUrl: "https://nothing-is-sent.invalid",
      apiKey: "none",
      rateLimiter: false,
      fetch: async () => Response.json(reply.body),
      parsePage,
    });
    const { items } = await client.v1[resource].list();
    return items.map(({ id }) => id);
  };
  const parsePage = writeParsePage(reply.body);
  try {
    return { ids: await idsWith(), parsePage };
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    const { message: problem } = error;
    if (parsePage === undefined) return { ids: [], problem };
    try {
      return { ids: await idsWith(parsePage.parse), problem, parsePage };
    } catch (second) {
      if (!isAudienceError(second)) throw second;
      return { ids: [], problem: second.message };
    }
  }
}
