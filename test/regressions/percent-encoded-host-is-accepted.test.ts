import { AudienceClient, ConfigurationError } from "audience-sdk";
import { expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

it.each(["https://api%2Eexample.com", "https://api%E3%80%82example.com/prefix", "https://%61pi.example.com"])(
  "A base URL whose host is percent-encoded (%s) is refused, because it hides its address",
  (baseUrl) => {
    expect(thrownBy(() => new AudienceClient({ baseUrl, apiKey: "k" }))).toBeInstanceOf(ConfigurationError);
  },
);
