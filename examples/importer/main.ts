// npm run import -- --help
import { runProgram } from "../console/program.ts";
import { runImporter } from "./importer.ts";

await runProgram(runImporter);
