/**
 * The tests that mutants are tried with (`npm run mutation`), in a copy of this package.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  // By its name the package would be the one that isn't mutated.
  resolve: { alias: { "@billwright/core": fileURLToPath(new URL("../../src/index.ts", import.meta.url)) } },
  test: {
    include: [
      "test/webhooks/{DeliveryMachine,RetryPolicy,Signature}.test.ts",
      "test/usage/{Threshold,Thresholds,UsagePeriod}.test.ts",
      "test/shared/InvalidInput.test.ts",
    ],
  },
})
