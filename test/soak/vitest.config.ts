import { BaseSequencer, type TestSpecification } from "vitest/node";
import { lane } from "../vitest.config.ts";

const longest = ["chaos/chaos", "soak/redis-in-virtual-time", "properties/snapshots", "soak/bulk-killed"];

/** Begins with the longest files: if one of them were the last, it would run alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longest.some((name) => moduleId.includes(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// The long runs: npm run soak
export default lane({
  test: {
    env: { SOAK: "true" },
    testTimeout: 600_000,
    reporters: ["verbose"],
    sequence: { sequencer: LongestFirst },
    include: [
      "test/soak/**/*.test.ts",
      "test/{chaos,properties}/**/*.test.ts",
      "test/examples/{importer-consent,probe}.test.ts",
      "test/rate-limiter/{reserve,within-limits}.test.ts",
    ],
  },
});
