const sdk = require("audience-sdk");
const mocking = require("audience-sdk/mock");
const schemas = require("audience-sdk/schemas");
const { scenario } = require("./scenario.cjs");

scenario({ sdk, mocking, schemas }).then((result) => console.log(JSON.stringify(result)));
