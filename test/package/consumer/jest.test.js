const sdk = require("audience-sdk");
const mocking = require("audience-sdk/mock");
const schemas = require("audience-sdk/schemas");
const { scenario } = require("./programs.cjs").programs;

test("the scenario runs in Jest", async () => {
  expect(await scenario.run({ sdk, mocking, schemas })).toEqual(scenario.expected);
});
