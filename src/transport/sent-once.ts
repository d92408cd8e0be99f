/**
 * A body that the runtime sends once. When a kept connection ends before the answer, Deno's own fetch sends the request
 * again, whatever its method, and tells nobody: what must not be done twice would be. A stream it cannot send again.
 * Elsewhere the text goes out as it is, with its length.
 */
export function sentOnce(body: string): RequestInit {
  if (!("Deno" in globalThis)) return { body };
  const bytes = new TextEncoder().encode(body);
  // Of a Response's stream Deno still knows the text.
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const streamed = { body: stream, duplex: "half" };
  return streamed;
}
