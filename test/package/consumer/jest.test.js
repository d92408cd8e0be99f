const sdk = require("audience-sdk");
const mocking = require("audience-sdk/mock");
const schemas = require("audience-sdk/schemas");
const { expected, scenario } = require("./scenario.cjs");

test("the scenario runs in Jest", async () => {
  expect(await scenario({ sdk, mocking, schemas })).toEqual(expected);
});
