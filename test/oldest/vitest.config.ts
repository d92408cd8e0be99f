import { lane } from "../vitest.config.ts";

// The packed package with each supported zod: npm run oldest
export default lane({ test: { include: ["test/oldest/**/*.test.ts"], globalSetup: "test/oldest/setup.ts" } });
