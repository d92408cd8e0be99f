import { OWN_PATHS } from "./doors.ts";
import type { MockFault } from "./faults.ts";
import type { Mock } from "./handle-request.ts";
import { isObject } from "./json-rules.ts";
import { TABS } from "./page/page-view.ts";
import { requestDetails } from "./page/request-view.ts";
import { pageView } from "./page/view.ts";
import type { MockClientOptions } from "./public-types.ts";
import { credentialsOf, environmentOf, startPage } from "./start-page.ts";

/** The page and the mock's own paths, only over real HTTP; `startPage` lists them. */
export class Control {
  readonly #mock: Mock;
  /** Those of the first organization, at the address on which the mock listens. */
  readonly #clientOptions: MockClientOptions;
  /** A page may have asked the mock that was at this address before. */
  readonly #start = crypto.randomUUID();

  constructor(mock: Mock, clientOptions: MockClientOptions) {
    this.#mock = mock;
    this.#clientOptions = clientOptions;
  }

  /** The response for a path of the mock itself; `undefined` for all other paths. */
  async respond(request: Request): Promise<Response | undefined> {
    const url = new URL(request.url);
    if (/^(GET|HEAD)$/.test(request.method) && url.pathname === "/") return this.#root(request);
    if (!url.pathname.startsWith(OWN_PATHS)) return undefined;
    try {
      const path = url.pathname.slice(OWN_PATHS.length).split("/").map(decodeURIComponent);
      const response =
        request.method === "GET" ? await this.#read(path, url) : await this.#change(path, request);
      const message = `there is no ${request.method} ${url.pathname}`;
      return response ?? Response.json({ message }, { status: 404 });
    } catch (error) {
      // Safe: the mock and `decodeURIComponent` throw nothing else.
      return Response.json({ message: (error as Error).message }, { status: 400 });
    }
  }

  /** A page for a browser, and text for all others. */
  async #root(request: Request): Promise<Response> {
    const vary = { vary: "accept" };
    if (!request.headers.get("accept")?.includes("text/html"))
      return new Response(startPage({ ...this.#clientOptions, speed: this.#mock.speed }), { headers: vary });
    const { PAGE, PAGE_CSP } = await import("./page/page-file.ts");
    return new Response(PAGE, {
      headers: {
        ...vary,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": PAGE_CSP,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      },
    });
  }

  async #read([resource, name = ""]: string[], url: URL): Promise<Response | undefined> {
    const { service, state } = this.#mock;
    switch (resource) {
      case "organizations":
        return Response.json(service.organization(name));
      case "requests":
        return name === "" ? Response.json(service.requests) : this.#request(Number(name));
      case "resubscriptions":
        return Response.json(service.resubscriptions);
      case "settled":
        await service.settled();
        return Response.json({ settled: true });
      case "faults":
        return Response.json(state().faults.list());
      case "environment":
        return Response.json(this.#environment(url));
      case "page": {
        const { searchParams: query } = url;
        const tab = TABS.find((each) => each === query.get("tab")) ?? "requests";
        const organization = query.get("organization") ?? undefined;
        const given = (parameter: string) => query.get(parameter) ?? "";
        const [since, find, resubscriptions] = [given("since"), given("find"), query.has("resubscriptions")];
        const only = { operation: given("operation"), status: given("status"), resubscriptions };
        return Response.json(pageView(this.#mock, this.#start, { since, organization, tab, find, only }));
      }
      default:
        return undefined;
    }
  }

  #request(number: number): Response | undefined {
    const details = requestDetails(this.#mock.log.records, number);
    return details && Response.json(details);
  }

  /** That of a client of one organization, by the name under which the mock was asked. */
  #environment(url: URL): string[] {
    const { organizations } = this.#mock.state().organizations;
    const id = url.searchParams.get("organization");
    const seed = organizations.find((each) => each.seed.id === id)?.seed ?? organizations[0]!.seed;
    const here = (baseUrl: string) => url.origin + new URL(baseUrl).pathname.replace(/\/+$/, "");
    const { baseUrl, baseUrlV2 } = this.#clientOptions;
    const { speed } = this.#mock;
    return environmentOf({
      ...credentialsOf(seed),
      baseUrl: here(baseUrl),
      baseUrlV2: here(baseUrlV2),
      speed,
    });
  }

  async #change([resource, name]: string[], request: Request): Promise<Response | undefined> {
    const { service } = this.#mock;
    switch (`${request.method} ${resource}`) {
      case "POST faults":
        // Safe: `addFault` checks it.
        return this.#addFault((await jsonOf(request, '{"kind":"500-before","times":1}')) as MockFault);
      case "DELETE faults":
        return this.#removeFault(name);
      case "POST unsubscribe": {
        const { person, ...options } = await personOf(request);
        service.unsubscribe(person, options);
        return Response.json({ unsubscribed: true });
      }
      case "POST confirm": {
        const { person, ...options } = await personOf(request);
        service.confirm(person, options);
        return Response.json({ confirmed: true });
      }
      case "POST asks-again": {
        const { person, ...options } = await personOf(request);
        service.asksAgain(person, options);
        return Response.json({ asksAgain: true });
      }
      case "POST reset":
        service.reset();
        return Response.json({ reset: true });
      default:
        return undefined;
    }
  }

  #addFault(fault: MockFault): Response {
    this.#mock.service.addFault(fault);
    const { id } = this.#mock.state().faults.list().at(-1)!;
    return Response.json({ added: true, id }, { status: 201 });
  }

  /** One by its id, or all of them. */
  #removeFault(id: string | undefined): Response | undefined {
    const { state, log } = this.#mock;
    if (!state().faults.remove(id === undefined ? undefined : Number(id))) return undefined;
    log.changed();
    return Response.json({ removed: true });
  }
}

async function jsonOf(request: Request, example: string): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError(`the body must be JSON, such as ${example}`);
  }
}

async function personOf(request: Request): Promise<{ person: string }> {
  const example = '{"person":"ada@example.com"}';
  const body = await jsonOf(request, example);
  if (!isObject(body)) throw new TypeError(`the body must be an object, such as ${example}`);
  // Safe: the mock checks what it has.
  return body as { person: string };
}
