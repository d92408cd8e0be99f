// node import.mjs ENTRY-POINT PROGRAM...: programs of this folder, one after the other, on the package as an ES module.
import { inspect } from "node:util";
import * as sdk from "audience-sdk";
import * as checkpoints from "audience-sdk/checkpoint";
import * as mocking from "audience-sdk/mock";
import * as stores from "audience-sdk/redis";
import * as schemas from "audience-sdk/schemas";
import { programs } from "./programs.cjs";

const [entryPoint, ...names] = process.argv.slice(2);
const entries = { sdk, checkpoints, mocking, stores, schemas };
const results = {};
for (const name of names) results[name] = await programs[name].run({ ...entries, inspect, entryPoint });
console.log(JSON.stringify(results));
