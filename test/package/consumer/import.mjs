import * as sdk from "audience-sdk";
import * as mocking from "audience-sdk/mock";
import * as schemas from "audience-sdk/schemas";
import { scenario } from "./scenario.cjs";

console.log(JSON.stringify(await scenario({ sdk, mocking, schemas })));
