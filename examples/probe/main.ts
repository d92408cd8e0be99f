// npm run probe [-- --help]
import { runProgram } from "../console/program.ts";
import { runProbe } from "./probe.ts";

await runProgram(runProbe);
