import { expect, it } from "vitest";
import { runWithFailures } from "./simulated-failures.ts";

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tens) => tens * 10))(
  "four processes never exceed a limit while Redis is unavailable, slow or empty (seeds to %i)",
  async (last) => {
    for (let seed = last - 9; seed <= last; seed += 1) {
      const { refused, waiting, log } = await runWithFailures(seed);
      expect({ seed, log, refused, waiting }).toEqual({
        seed,
        log,
        refused: 0,
        waiting: 0,
      });
    }
  },
);
