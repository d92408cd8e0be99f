import type { Fetch } from "audience-sdk";

const profile = { type: "profile", id: "contact-1", attributes: { email: "ada@example.com" } };
const responses: readonly (readonly [RegExp, unknown])[] = [
  [/\/customer\?/, { data: [profile], meta: { total: 1 } }],
  [/\/customer\//, { data: profile, links: { self: "x" } }],
  [/\/contact-groups\?/, { data: [{ id: "list-1", name: "Newsletter" }], meta: { total: 1 } }],
  [
    /\/contacts$/,
    { message: "m", contact: { email: "a@b", contactUUID: "c", action: "created" }, status: true },
  ],
  [/\/contact-groups\//, { data: { id: "list-1" } }],
  [/\/events$/, {}],
  [
    /\/v2\/lists/,
    { success: true, data: { lists: [{ uuid: "u", name: "n" }], current_page: 1, total_pages: 1 } },
  ],
];

/** Responds to each of the nine calls as the service would, at once. */
export const offlineFetch: Fetch = async (url) => {
  const found = responses.find(([address]) => address.test(url));
  return Response.json(found?.[1] ?? { message: "no such endpoint" }, { status: found ? 200 : 404 });
};

/** The options of a client without network access. */
export const offline = {
  baseUrl: "https://api.example.com",
  baseUrlV2: "https://v2.example.com",
  apiKey: "test-key-0123456789",
  appId: "app",
  rateLimiter: false,
  maxRetries: 0,
  fetch: offlineFetch,
} as const;
