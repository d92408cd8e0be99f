import ky from "ky";

export function construct(baseUrl) {
  return ky.create({ prefix: baseUrl, headers: { "x-api-key": "key-0123456789abcdef" } });
}

export async function call(client) {
  const contact = { email: "ada@example.com", first_name: "Ada", email_opt_in: "SUBSCRIBED" };
  const { data } = await client.post("api/v1/customer/create", { json: contact }).json();
  return data.id;
}

export async function* read(client) {
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const body = await client.get("api/v1/customer", { searchParams: { limit: 100, page } }).json();
    pages = body.meta.total_pages;
    yield body.data;
  }
}
