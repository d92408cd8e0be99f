import { neverOver } from "./within-limits.ts";

neverOver([10, 50, 100]);
