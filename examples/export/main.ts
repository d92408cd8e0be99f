// npm run export -- --help
import { runProgram } from "../console/program.ts";
import { runExport } from "./export.ts";

await runProgram(runExport);
