import OpenAI from "openai";

export function construct(baseUrl) {
  return new OpenAI({ apiKey: "key-0123456789abcdef", baseURL: `${baseUrl}/openai` });
}

export async function call(client) {
  return (await client.vectorStores.create({ name: "Ada", metadata: { email: "ada@example.com" } })).id;
}

export function read(client) {
  return client.vectorStores.list({ limit: 100 });
}
