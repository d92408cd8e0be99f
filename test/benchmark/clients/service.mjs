// A server that responds to each client as its service would: `node service.mjs`. Prints as JSON the length of the list
// that every client reads, and three addresses: it responds promptly, after 20 ms, or never.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

const [pages, pageSize] = [10, 100];
const created = "2026-01-01T00:00:00Z";
const fields = (id) => ({ email: `${id}@example.com`, first_name: "Ada", last_name: "Lovelace", created });
const flat = (id) => ({ id, ...fields(id) });
const resource = (id) => ({ type: "profile", id, attributes: fields(id) });
const enveloped = (data) => ({ data });
const asItIs = (value) => value;

/** How a service shows one contact, and a page of them; by the beginning of the path. */
const shapes = {
  "/api/v1/customer": {
    item: resource,
    one: enveloped,
    list: (data, { page }) => ({ data, meta: { current_page: page, total_pages: pages } }),
  },
  "/api/profiles": {
    item: resource,
    one: enveloped,
    list: (data, { next }) => ({
      data,
      links: { next: next && `http://localhost/api/profiles?page[cursor]=${next}` },
    }),
  },
  "/crm/": {
    item: (id) => ({ id, properties: fields(id), createdAt: created, updatedAt: created, archived: false }),
    one: asItIs,
    list: (results, { next }) => ({ results, ...(next && { paging: { next: { after: next } } }) }),
  },
  // Its last page is known by the header `link`.
  "/orgs/": { item: flat, one: asItIs, list: asItIs },
  // stripe, openai, resend
  "/": {
    item: flat,
    one: asItIs,
    list: (data, { next }) => ({
      object: "list",
      data,
      has_more: next !== undefined,
      first_id: data[0].id,
      last_id: data.at(-1).id,
    }),
  },
};

function respond({ method, url }) {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const [, { item, one, list }] = Object.entries(shapes).find(([path]) => pathname.startsWith(path));
  if (method === "POST" || pathname === "/user" || pathname.endsWith("/one"))
    return { body: one(item("one")) };
  // A cursor is the last id of the page before: `3-99`.
  const cursor = ["starting_after", "after", "after_id", "page[cursor]"]
    .map((name) => searchParams.get(name))
    .find((value) => value !== null);
  const page = cursor ? Number.parseInt(cursor, 10) + 1 : Number(searchParams.get("page") ?? 1);
  const items = Array.from({ length: pageSize }, (_, at) => item(`${page}-${at}`));
  const next = page < pages ? items.at(-1).id : undefined;
  return { body: list(items, { page, next }), link: next && `<http://localhost${pathname}>; rel="next"` };
}

async function listen(delayMs) {
  const server = createServer(async (request, response) => {
    await once(request.resume(), "end");
    if (delayMs === Infinity) return;
    if (delayMs > 0) await wait(delayMs);
    const { body, link } = respond(request);
    const text = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    response
      .writeHead(request.method === "POST" ? 201 : 200, link ? { ...headers, link } : headers)
      .end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

const urls = { prompt: await listen(0), slow: await listen(20), silent: await listen(Infinity) };
console.log(JSON.stringify({ urls, pages, pageSize }));
