import { AudienceClient, type ClientOptions, ConfigurationError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { thrownBy } from "./failure.ts";
import { profileResponse } from "./fixture.ts";

/** The address that `customers.get("c-1")` asks for. */
async function asked(baseUrl: string, options: ClientOptions = {}): Promise<string> {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return Response.json(profileResponse);
  };
  await new AudienceClient({ baseUrl, apiKey: "k", rateLimiter: false, fetch, ...options }).v1.customers.get(
    "c-1",
  );
  return urls.join();
}

describe("A base URL", () => {
  it("with a letter that is not ASCII is read alike, however often", () => {
    const create = () =>
      new AudienceClient({ baseUrl: "https://b\u00fccher.example", apiKey: "k", rateLimiter: false });
    // Node compiles a function that is called often anew: its `URL.canParse` then refuses such a host.
    for (let client = 0; client < 20_000; client++) create();
    expect(create).not.toThrow();
  });

  it.each([
    ["https://api.example.com", "https://api.example.com/api/v1/customer/c-1"],
    ["https://api.example.com/", "https://api.example.com/api/v1/customer/c-1"],
    ["https://api.example.com:8443", "https://api.example.com:8443/api/v1/customer/c-1"],
    ["https://gateway.example/audience", "https://gateway.example/audience/api/v1/customer/c-1"],
    ["https://gateway.example/audience/", "https://gateway.example/audience/api/v1/customer/c-1"],
    ["https://gateway.example/a/b%20c", "https://gateway.example/a/b%20c/api/v1/customer/c-1"],
    ["https://gateway.example/api", "https://gateway.example/api/api/v1/customer/c-1"],
    ["https://gateway.example/api/v10", "https://gateway.example/api/v10/api/v1/customer/c-1"],
    ["https://gateway.example/v2x", "https://gateway.example/v2x/api/v1/customer/c-1"],
    ["https://v2.example.com", "https://v2.example.com/api/v1/customer/c-1"],
    ["https://b\u00fccher.example", "https://xn--bcher-kva.example/api/v1/customer/c-1"],
    [" https://api.example.com\n", "https://api.example.com/api/v1/customer/c-1"],
    // As a URL parser reads it, so that no host is another one for the connection.
    ["https://api.example.com\\@evil.example", "https://api.example.com/@evil.example/api/v1/customer/c-1"],
    ["https:///API.Example.com:443\\x", "https://api.example.com/x/api/v1/customer/c-1"],
    [
      "https://B\u00dcCHER.XN--BCHER-KVA.example.",
      "https://xn--bcher-kva.xn--bcher-kva.example./api/v1/customer/c-1",
    ],
    ["https://[2001:DB8:0::1]:8443", "https://[2001:db8::1]:8443/api/v1/customer/c-1"],
    ["http://localhost:3000", "http://localhost:3000/api/v1/customer/c-1"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000/api/v1/customer/c-1"],
    ["http://[::1]:3000", "http://[::1]:3000/api/v1/customer/c-1"],
  ])("of %s is kept, with or without a prefix and a final slash", async (baseUrl, url) => {
    expect(await asked(baseUrl)).toBe(url);
  });

  it.each([
    ["already holds the family's path", "https://api.example.com/api/v1"],
    ["already holds the other family's path", "https://api.example.com/v2"],
    ["already holds the family's path", "https://api.example.com/API/V1"],
    ["would send the key in the clear", "http://api.example.com"],
    ["would send the key in the clear", "http://api.localhost"],
    ["only looks like loopback", "http://localhost.example.com"],
    ["has user info", "https://user:password@api.example.com"],
    ["has a query", "https://api.example.com?a=b"],
    ["has a fragment", "https://api.example.com#a"],
    ["names no host", "https://"],
    ["is no URL", "api.example.com"],
    ["is of another kind", "file:///etc/passwd"],
  ])("that %s is a ConfigurationError: %j", (_, url) => {
    const v1 = thrownBy(() => new AudienceClient({ baseUrl: url, apiKey: "k" }));
    const v2 = thrownBy(() => new AudienceClient({ baseUrlV2: url, apiKey: "k", appId: "a" }));

    expect(v1).toBeInstanceOf(ConfigurationError);
    expect(v2).toBeInstanceOf(ConfigurationError);
    expect((v1 as Error).message).toMatch(/^baseUrl /);
    expect((v2 as Error).message).toMatch(/^baseUrlV2 /);
    expect((v1 as Error).message).not.toMatch(/user:password|evil/);
  });

  it.each([
    ["https://010.0.0.1", "8.0.0.1"],
    ["https://134744072/x", "8.8.8.8"],
    ["https://0x08080808:8443", "8.8.8.8"],
    ["https://8.8", "8.0.0.8"],
    ["http://0177.0.0.1", "127.0.0.1"],
    ["https://\u2460\u2461\u2466.0.0.1", "127.0.0.1"],
    ["https://exam\u00adple.com", "example.com"],
    ["https://exam\u200bple.com", "example.com"],
    ["https://b\u00fc\u00adcher.example", "xn--bcher-kva.example"],
    ["https://b\u00fccher.exam\u00adple", "xn--bcher-kva.example"],
    ["https://exam\tple.com", "example.com"],
    ["https://\uff45xample.com", "example.com"],
    ["https://api.example%2ecom", "api.example.com"],
  ])(
    "whose host is not the one that it leads to is a ConfigurationError that names it: %j",
    (baseUrl, host) => {
      const refusal = thrownBy(() => new AudienceClient({ baseUrl, apiKey: "k" }));

      expect(refusal).toBeInstanceOf(ConfigurationError);
      expect((refusal as Error).message).toBe(
        `baseUrl leads to the host ${host}, and shows another one: write the host that you mean.`,
      );
      // A URL shows what it leads to.
      expect(() => new AudienceClient({ baseUrl: new URL(baseUrl), apiKey: "k" })).not.toThrow();
    },
  );

  it("of http: beyond loopback needs allowInsecureHttp, which allows nothing else", async () => {
    expect(await asked("http://10.0.0.1/x", { allowInsecureHttp: true })).toBe(
      "http://10.0.0.1/x/api/v1/customer/c-1",
    );
    expect(
      thrownBy(() => new AudienceClient({ baseUrl: "ftp://10.0.0.1", allowInsecureHttp: true })),
    ).toBeInstanceOf(ConfigurationError);
  });
});
