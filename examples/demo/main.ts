// npm run demo [-- --help]
import { runProgram } from "../console/program.ts";
import { runDemo } from "./demo.ts";

await runProgram(runDemo);
