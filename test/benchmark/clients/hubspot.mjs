import { Client } from "@hubspot/api-client";

export function construct(basePath, isLimited) {
  // By default its bottleneck spaces the calls by 111 ms.
  return new Client({
    accessToken: "key-0123456789abcdef",
    basePath,
    ...(isLimited ? {} : { limiterOptions: {} }),
  });
}

export async function call(client) {
  const properties = { email: "ada@example.com", firstname: "Ada" };
  return (await client.crm.contacts.basicApi.create({ properties })).id;
}

export async function* read(client) {
  for (let after, isLast = false; !isLast;) {
    const page = await client.crm.contacts.basicApi.getPage(100, after);
    yield page.results;
    after = page.paging?.next?.after;
    isLast = after === undefined;
  }
}
