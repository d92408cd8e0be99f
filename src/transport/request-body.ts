import { ofRuntime } from "../runtime.ts";

/**
 * Whether the runtime's fetch silently sends a string again, even in a POST (D68): that of Node after a 421, that of Deno if
 * a reused connection closes before the response. Other runtimes need no stream, and browsers refuse one over HTTP/1.1.
 */
export function repeatsStrings(): boolean {
  if ("Deno" in globalThis) return true;
  return ofRuntime(({ process }) => process?.versions?.["undici"]) !== undefined && takesStreams();
}

/** What was found of a `Request`: a test may replace the global one. */
const found = new WeakMap<typeof Request, boolean>();

/** The `Request` of a polyfill would send a stream as "[object ReadableStream]", and asks for no `duplex`. */
function takesStreams(): boolean {
  const known = found.get(Request);
  if (known !== undefined) return known;
  let isAsked = false;
  const init = {
    method: "POST",
    body: new ReadableStream(),
    get duplex() {
      isAsked = true;
      return "half";
    },
  };
  void new Request("https://none.invalid", init);
  found.set(Request, isAsked);
  return isAsked;
}

/** A body that cannot be sent again, and its length, without which it would be sent in chunks. */
export function singleUse(body: string): { headers: Record<string, string>; body: ReadableStream } {
  const bytes = new TextEncoder().encode(body);
  // The stream of a Response would not do: Deno keeps its source.
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return { headers: { "content-length": String(bytes.byteLength) }, body: stream };
}
