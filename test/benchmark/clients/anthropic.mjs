import Anthropic from "@anthropic-ai/sdk";

export function construct(baseUrl) {
  return new Anthropic({ apiKey: "key-0123456789abcdef", baseURL: `${baseUrl}/anthropic` });
}

export async function call(client) {
  const messages = [{ role: "user", content: "ada@example.com" }];
  return (await client.messages.create({ model: "m", max_tokens: 10, messages })).id;
}

export function read(client) {
  return client.models.list({ limit: 100 });
}
