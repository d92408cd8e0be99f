// node import.mjs [program] [entry point]: a program of this folder, on the package as an ES module.
import { inspect } from "node:util";
import * as sdk from "audience-sdk";
import * as checkpoints from "audience-sdk/checkpoint";
import * as mocking from "audience-sdk/mock";
import * as stores from "audience-sdk/redis";
import * as schemas from "audience-sdk/schemas";
import { programs } from "./programs.cjs";

const [program = "scenario", entryPoint = "http"] = process.argv.slice(2);
const entries = { sdk, checkpoints, mocking, stores, schemas };
console.log(JSON.stringify(await programs[program].run({ ...entries, inspect, entryPoint })));
