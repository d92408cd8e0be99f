import { describe } from "vitest";
import { neverOver, neverOverAtEdges } from "./within-limits.ts";

neverOver([500, 1_000, 2_500]);

describe("Loads at the edges of windows never exceed a limit", () => {
  neverOverAtEdges();
});
