import { flattenProperties } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { expectNotSent, testRefused, untyped, useService } from "./service.ts";

const CREATE = "/api/v1/customer/create";
const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, `value ${at}`]));

describe("custom properties", () => {
  const service = useService();
  const upsert = (custom_properties: unknown) =>
    service.audience.v1.customers.upsert({
      email: "new@example.com",
      custom_properties: untyped(custom_properties),
    });
  const stored = () => service.contact("new@example.com")?.custom_properties;
  const sent = () => service.mock.requests[0]?.body;

  it.each([
    [3, { plan: "3" }],
    [-0.5, { plan: "-0.5" }],
    [1e21, { plan: "1e+21" }],
    [true, { plan: "true" }],
    [false, { plan: "false" }],
    [" gold ", { plan: " gold " }],
    // Blank ones are sent, and dropped by the service.
    ...["", " ", "\t\n", "\u00a0"].map((blank) => [blank, {}] as const),
  ] as const)("the value %j is sent unchanged, and stored as %j", async (value, text) => {
    await upsert({ plan: value, tier: "one" });

    expect(sent()).toMatchObject({ custom_properties: { plan: value } });
    expect(stored()).toEqual({ ...text, tier: "one" });
  });

  it("a property whose value is undefined is omitted", async () => {
    await upsert({ ...properties(29), plan: "gold", seats: undefined });

    expect(sent()).toMatchObject({ custom_properties: { plan: "gold" } });
    expect(stored()).toEqual({ ...properties(29), plan: "gold" });
  });

  it.each([[{ city: "Turin" }], [["a", "b"]], [{}], [[]]])(
    "the nested value %j is not sent, and the message names the remedy",
    async (value) => {
      const error = await expectNotSent(
        service,
        upsert({ address: value }),
        "custom_properties.address invalid_type",
      );

      expect(error.issues[0]?.message).toContain("flattenProperties");
    },
  );

  it.each([
    [{ city: "Turin" }, "[object Object]"],
    [["a", "b"], "[object Array]"],
  ])("the service would store the nested value %j as the unusable string %j", async (value, text) => {
    const { status } = await service.send("POST", CREATE, {
      email: "new@example.com",
      custom_properties: { address: value },
    });

    expect(status).toBe(201);
    expect(stored()).toEqual({ address: text });
  });

  it("flattened values arrive", async () => {
    await upsert(flattenProperties({ address: { city: "Turin", zip: 10_123 }, tags: ["vip", "beta"] }));

    expect(stored()).toEqual({ address_city: "Turin", address_zip: "10123", tags_0: "vip", tags_1: "beta" });
  });

  it.each([0, 1, 29, 30])("%i keys are stored", async (count) => {
    await upsert(properties(count));

    expect(stored()).toEqual(properties(count));
  });

  const call = (contact: unknown) => service.audience.v1.customers.upsert(untyped(contact));
  testRefused({ service, path: CREATE, call }, { email: "new@example.com" }, [
    [{ custom_properties: properties(31) }, "custom_properties too_big"],
    [{ custom_properties: properties(100) }, "custom_properties too_big"],
    [{ custom_properties: { plan: null } }, "custom_properties.plan invalid_type"],
    [{ custom_properties: "gold" }, "custom_properties invalid_type"],
    [{ custom_properties: ["gold"] }, "custom_properties invalid_type"],
    [{ custom_properties: null }, "custom_properties invalid_type"],
  ]);

  it("blank values count among the keys of a request", async () => {
    const blank = Object.fromEntries(Object.keys(properties(31)).map((key) => [key, ""]));

    await expectNotSent(service, upsert(blank), "custom_properties too_big");
  });

  it("the keys are counted per request: two writes of thirty make sixty", async () => {
    await upsert(properties(30));
    await upsert(Object.fromEntries(Object.keys(properties(30)).map((key) => [`more ${key}`, "x"])));

    expect(Object.keys(stored() ?? {})).toHaveLength(60);
  });

  it("a later write keeps the properties that it does not name, or names with a blank string", async () => {
    await upsert({ plan: "gold", tier: "one", seats: 1 });
    await upsert({ seats: 2, plan: " " });

    expect(stored()).toEqual({ plan: "gold", tier: "one", seats: "2" });
  });

  it.each(["ключ", "a.b", "first_name", "constructor", "0"])("a key may have any name: %s", async (key) => {
    await upsert({ [key]: "x" });

    expect(stored()).toEqual({ [key]: "x" });
  });

  it("the profile contains them as the stored strings", async () => {
    const profile = await upsert({ seats: 3 });

    expect(profile.attributes.custom_properties).toEqual({ seats: "3" });
  });
});
