import { say } from "./elements.ts";

/** Sends a request to the mock's own paths. A refusal is shown, and is `false`. */
export async function act(method: "POST" | "DELETE", path: string, body: unknown = {}): Promise<boolean> {
  try {
    const response = await fetch(`/__mock/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.ok) return true;
    const { message } = (await response.json()) as { message: string };
    say(message);
  } catch {
    say("The mock does not answer.");
  }
  return false;
}

/** Reads one of the mock's own paths; `undefined` for none, and if the mock does not answer. */
export async function read<Value>(path: string): Promise<Value | undefined> {
  try {
    const response = await fetch(`/__mock/${path}`);
    return response.ok ? ((await response.json()) as Value) : undefined;
  } catch {
    return undefined;
  }
}
