export function construct(baseUrl) {
  return async (path, init) => {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { "x-api-key": "key-0123456789abcdef", "content-type": "application/json" },
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
}

export async function call(client) {
  const contact = { email: "ada@example.com", first_name: "Ada", email_opt_in: "SUBSCRIBED" };
  const { data } = await client("/api/v1/customer/create", { method: "POST", body: JSON.stringify(contact) });
  return data.id;
}

export async function* read(client) {
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const body = await client(`/api/v1/customer?limit=100&page=${page}`);
    pages = body.meta.total_pages;
    yield body.data;
  }
}
