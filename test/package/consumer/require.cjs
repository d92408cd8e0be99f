// node require.cjs [program] [entry point]: a program of this folder, on the package as CommonJS.
const { inspect } = require("node:util");
const sdk = require("audience-sdk");
const checkpoints = require("audience-sdk/checkpoint");
const mocking = require("audience-sdk/mock");
const stores = require("audience-sdk/redis");
const schemas = require("audience-sdk/schemas");
const { programs } = require("./programs.cjs");

const [program = "scenario", entryPoint = "http"] = process.argv.slice(2);
const entries = { sdk, checkpoints, mocking, stores, schemas };
programs[program]
  .run({ ...entries, inspect, entryPoint })
  .then((result) => console.log(JSON.stringify(result)));
