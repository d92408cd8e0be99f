import { describe, expect, it } from "vitest";
import { hasRedis } from "./redis-server.ts";

/**
 * A suite that needs a real `redis-server`. Without one the suite does not run, and that is reported: on a
 * developer's machine as a warning, in CI as a failure.
 */
export function describeWithRedis(title: string, suite: () => void): void {
  if (hasRedis) describe(title, suite);
  else {
    it(`${title}: NOT SHOWN, there is no redis-server (fails where CI=true)`, () => {
      console.warn(`Not shown: ${title}. Install redis-server (Debian: apt-get install redis-server).`);
      expect(process.env["CI"]).not.toBe("true");
    });
  }
}
