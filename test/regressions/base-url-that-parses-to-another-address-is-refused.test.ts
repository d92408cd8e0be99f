import { AudienceClient, ConfigurationError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

describe("A base URL that a runtime parses to another address than it shows is refused", () => {
  it.each([
    ["https://010.0.0.1", "8.0.0.1"],
    ["https://1.2.3", "1.2.0.3"],
    ["https://0x08080808", "8.8.8.8"],
    ["http://2130706433", "127.0.0.1"],
    ["http://127.1", "127.0.0.1"],
    ["http://127.0.0.1.", "127.0.0.1"],
    ["https://gateway.example/audience/../admin", "/admin"],
    ["https://gateway.example/audience/%2E%2e/admin", "/admin"],
    ["https://gateway.example/audience/.", "/audience"],
    ["https://api.example.com;.evil.example", "a name below evil.example"],
    ["https://api.example.com,evil.example", "a name below example"],
    ["https://*.example.com", "no name"],
  ])("%s, which would lead to %s", (baseUrl) => {
    expect(thrownBy(() => new AudienceClient({ baseUrl, apiKey: "k" }))).toBeInstanceOf(ConfigurationError);
  });

  it("http: to a subdomain of localhost is refused, because a resolver may ask the network for it", () => {
    const baseUrl = "http://api.localhost:3000";

    expect(thrownBy(() => new AudienceClient({ baseUrl, apiKey: "k" }))).toBeInstanceOf(ConfigurationError);
    expect(() => new AudienceClient({ baseUrl, apiKey: "k", allowInsecureHttp: true })).not.toThrow();
  });
});
