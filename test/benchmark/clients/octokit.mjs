import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";

const ThrottledOctokit = Octokit.plugin(throttling);

export function construct(baseUrl) {
  const throttle = { onRateLimit: () => true, onSecondaryRateLimit: () => true };
  return new ThrottledOctokit({ auth: "key-0123456789abcdef", baseUrl, throttle });
}

/** A read: the plugin lets one write a second pass. */
export async function call(client) {
  return (await client.request("GET /user")).data.id;
}

export async function* read(client) {
  for (let page = 1, isLast = false; !isLast; page += 1) {
    const { data, headers } = await client.request("GET /orgs/{org}/members", {
      org: "o",
      per_page: 100,
      page,
    });
    isLast = !headers.link?.includes('rel="next"');
    yield data;
  }
}
