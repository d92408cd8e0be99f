// node require.cjs ENTRY-POINT PROGRAM...: programs of this folder, one after the other, on the package as CommonJS.
const { inspect } = require("node:util");
const sdk = require("audience-sdk");
const checkpoints = require("audience-sdk/checkpoint");
const mocking = require("audience-sdk/mock");
const stores = require("audience-sdk/redis");
const schemas = require("audience-sdk/schemas");
const { programs } = require("./programs.cjs");

const [entryPoint, ...names] = process.argv.slice(2);
const entries = { sdk, checkpoints, mocking, stores, schemas };

async function run() {
  const results = {};
  for (const name of names) results[name] = await programs[name].run({ ...entries, inspect, entryPoint });
  console.log(JSON.stringify(results));
}
void run();
