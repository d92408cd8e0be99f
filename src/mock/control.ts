import { checkFault } from "./faults.ts";
import type { MockService } from "./interface.ts";

/** The paths of the mock itself, for tests in another process or language. */
const PREFIX = "/__mock/";

/**
 * Serves the mock's own paths, only over real HTTP: `GET /__mock/organizations/{idOrKey}`, `GET /__mock/requests`,
 * `POST /__mock/faults`, `POST /__mock/reset`. `undefined` for all other paths.
 */
export async function controlResponse(service: MockService, request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith(PREFIX)) return undefined;
  const [resource = "", name = ""] = pathname.slice(PREFIX.length).split("/").map(decodeURIComponent);
  try {
    switch (`${request.method} ${resource}`) {
      case "GET organizations":
        return Response.json(service.organization(name));
      case "GET requests":
        return Response.json(service.requests);
      case "POST faults": {
        const fault: unknown = await request.json();
        checkFault(fault);
        service.addFault(fault);
        return Response.json({ added: true }, { status: 201 });
      }
      case "POST reset":
        service.reset();
        return Response.json({ reset: true });
      default:
        return Response.json({ message: `there is no ${request.method} ${pathname}` }, { status: 404 });
    }
  } catch (error) {
    // Safe: the mock and `JSON.parse` throw nothing else.
    return Response.json({ message: (error as Error).message }, { status: 400 });
  }
}
