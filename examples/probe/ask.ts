import { randomInt, randomUUID } from "node:crypto";
import { ApiError, isAudienceError, type AudienceClient } from "audience-sdk";
import { isJson, isWebPage, type Answer, type Reply } from "./answer.ts";
import { readList, type ReadList } from "./read-list.ts";

/** The replies of the account to the GETs of the probe. */
export interface Answers {
  /** `GET /api/v1/customer` */
  readonly customers: Reply;
  /** `GET /api/v1/contact-groups?limit=101` */
  readonly groups: Reply;
  /** Both v1 lists, as the client reads them. */
  readonly read: { readonly customers: ReadList; readonly groups: ReadList };
  /** `GET /api/v1/customer/{id}` of a listed contact. */
  readonly customer: Reply;
  /** `GET /api/v1/contact-groups/{id}` of a listed group. */
  readonly group: Reply;
  /** `GET /api/v1/customer/{id}` with the id of no contact. */
  readonly unknownCustomer: Reply;
  /** `GET /api/v1/contact-groups/{id}` with the id of no group. */
  readonly unknownGroup: Reply;
  /** `GET /v2/lists` */
  readonly lists: Reply;
  /** `GET /v2/lists?limit=1000` */
  readonly manyLists: Reply;
  /** Whether v1 refused a request without an app id, and accepted it with the app id. */
  readonly needsAppId: boolean;
  /** The number of GETs. */
  readonly count: number;
}

/** Above the documented maximum, 100. */
export const v1Limit = 101;
/** Above the maximum of most services. */
export const v2Limit = 1_000;

export interface AskOptions {
  /** Sent to v1 if v1 refuses a request without it. */
  readonly appId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The service gave a web page in place of JSON. */
export class WebPageError extends Error {
  override readonly name = "WebPageError";
}

/**
 * Asks the account in at most ten GETs. `audience` must have `maxRetries: 0`, as each attempt is a GET.
 *
 * Throws where the next question would get no answer either: no response, a wrong key, a rate limit, a web page.
 */
export async function askAccount(audience: AudienceClient, { appId, signal }: AskOptions): Promise<Answers> {
  let count = 0;
  let headers = {};
  const send = async (path: string, limit?: number): Promise<Answer> => {
    count += 1;
    const request = { method: "GET", path, query: { limit } } as const;
    try {
      const call = path.startsWith("/v2/")
        ? audience.v2.request(request, { signal })
        : audience.v1.request(request, { headers, signal });
      const { data, response } = await call.withResponse();
      return { status: response.status, headers: response.headers, body: data };
    } catch (error) {
      if (error instanceof ApiError && error.status !== 429) return error;
      throw error;
    }
  };
  const get = async (path: string, limit?: number): Promise<Answer> => accepted(await send(path, limit));
  const getOne = async (path: string, id: string | undefined): Promise<Reply> =>
    id === undefined ? "the list shows no id" : await get(`${path}/${encodeURIComponent(id)}`);
  const getUnknown = async (path: string, id: string): Promise<Reply> => {
    const ask = () => send(`${path}/${encodeURIComponent(idLike(id))}`);
    try {
      const first = await ask();
      // A failure that comes twice, between other answers, is no outage.
      return first.status >= 500 ? await ask() : first;
    } catch (error) {
      if (!isAudienceError(error) || signal?.aborted) throw error;
      return error.message;
    }
  };

  let customers = await send("/api/v1/customer");
  let needsAppId = false;
  if ([401, 403].includes(customers.status) && appId !== undefined) {
    headers = { "Service-App-Id": appId };
    const second = await send("/api/v1/customer");
    needsAppId = isJson(second);
    if (needsAppId) customers = second;
    else headers = {};
  }
  accepted(customers);
  const groups = await get("/api/v1/contact-groups", v1Limit);
  const read = {
    customers: await readList("customers", customers),
    groups: await readList("contactGroups", groups),
  };
  const [customerId, groupId] = [read.customers.ids[0], read.groups.ids[0]];
  const customer = await getOne("/api/v1/customer", customerId);
  const group = await getOne("/api/v1/contact-groups", groupId);
  const unknownCustomer = await getOne("/api/v1/customer", idLike(customerId ?? randomUUID()));
  const withoutV2 = reasonWithoutV2(audience);
  const lists = withoutV2 ?? (await get("/v2/lists"));
  const manyLists = withoutV2 ?? (await get("/v2/lists", v2Limit));
  // The last question, as any status may answer it.
  const unknownGroup =
    groupId === undefined ? "the list shows no id" : await getUnknown("/api/v1/contact-groups", groupId);
  return {
    customers,
    groups,
    read,
    customer,
    group,
    unknownCustomer,
    unknownGroup,
    lists,
    manyLists,
    needsAppId,
    count,
  };
}

/** Ends the probe at an answer that every other question would get, too. */
function accepted(answer: Answer): Answer {
  const { status, body, message = `The service responded with ${status}.` } = answer;
  if (isWebPage(body)) throw new WebPageError(`${message} A web page, not JSON: is the base URL right?`);
  if (status === 401 && answer instanceof ApiError) throw answer;
  return answer;
}

function reasonWithoutV2(audience: AudienceClient): string | undefined {
  try {
    // Reading the property validates the configuration.
    void audience.v2;
    return undefined;
  } catch (error) {
    if (isAudienceError(error)) return error.message;
    throw error;
  }
}

/** A random id of the same form: a service may refuse an id of another form with another status. */
function idLike(id: string): string {
  if (/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(id)) return randomUUID();
  return id.replace(/[\da-z]/gi, (character) => {
    if (/\d/.test(character)) return String(randomInt(10));
    const letter = "abcdef".charAt(randomInt(6));
    return /[A-Z]/.test(character) ? letter.toUpperCase() : letter;
  });
}
