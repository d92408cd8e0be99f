import { neverOver } from "./never-over.ts";

neverOver([10, 50, 100]);
