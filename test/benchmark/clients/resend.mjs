import { Resend } from "resend";

export function construct(baseUrl) {
  return new Resend("key-0123456789abcdef", { baseUrl });
}

export async function call(client) {
  const { data, error } = await client.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  if (error) throw new Error(error.message);
  return data.id;
}

export async function* read(client) {
  for (let after, hasMore = true; hasMore;) {
    const { data, error } = await client.contacts.list({ limit: 100, ...(after && { after }) });
    if (error) throw new Error(error.message);
    yield data.data;
    hasMore = data.has_more;
    after = data.data.at(-1).id;
  }
}
