import { ApiKeySession, ProfileEnum, ProfilesApi } from "klaviyo-api";

export function construct(baseUrl) {
  const client = new ProfilesApi(new ApiKeySession("key-0123456789abcdef"));
  client.basePath = baseUrl;
  return client;
}

export async function call(client) {
  const attributes = { email: "ada@example.com", firstName: "Ada" };
  const { body } = await client.createProfile({ data: { type: ProfileEnum.Profile, attributes } });
  return body.data.id;
}

export async function* read(client) {
  for (let pageCursor, isLast = false; !isLast;) {
    const { body } = await client.getProfiles({ pageSize: 100, ...(pageCursor && { pageCursor }) });
    yield body.data;
    isLast = !body.links.next;
    pageCursor = isLast ? undefined : new URL(body.links.next).searchParams.get("page[cursor]");
  }
}
