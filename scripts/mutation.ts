import { join } from "node:path"
/**
 * Mutation testing of the rules on which money and deliveries depend. StrykerJS changes them in one place at a time,
 * and the tests must fail each time. Fails if fewer than `MIN_SCORE` of the changes to one of the files are noticed.
 *
 * `npm run mutation`: at most a quarter of an hour on one core.
 */
import { setTimeout as delay } from "node:timers/promises"
import { Stryker } from "@stryker-mutator/core"
import { root } from "./workspace.ts"

const FILES = [
  "src/webhooks/DeliveryMachine.ts",
  "src/webhooks/RetryPolicy.ts",
  "src/webhooks/Signature.ts",
  "src/usage/Threshold.ts",
  "src/usage/UsagePeriod.ts",
]
const MIN_SCORE = 90
const DEADLINE_MILLIS = 15 * 60_000

// Stryker changes a copy of the directory in which it runs.
process.chdir(join(root, "packages/core"))

const stryker = new Stryker({
  mutate: FILES,
  // Stryker's reader of tsconfig files needs a compiler interface that TypeScript 7 doesn't have.
  ignorePatterns: ["dist", ".package", "tsconfig*.json", "*.tsbuildinfo"],
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 1,
  cleanTempDir: "always",
  reporters: ["clear-text"],
  clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: false },
})

void delay(DEADLINE_MILLIS, undefined, { ref: false }).then(() => {
  console.error(`not all mutants were tested within ${DEADLINE_MILLIS / 60_000} minutes`)
  process.exit(1)
})

const results = await stryker.runMutationTest()

const scoreOf = (file: string) => {
  const statuses = results.filter(({ fileName }) => fileName.endsWith(file)).map(({ status }) => status)
  const count = (...wanted: ReadonlyArray<string>) => statuses.filter((each) => wanted.includes(each)).length
  // A mutant that hangs counts as noticed. One that doesn't load says nothing about the tests.
  const [noticed, missed] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")]
  return { file, noticed, missed, score: (100 * noticed) / Math.max(1, noticed + missed) }
}

const scores = FILES.map(scoreOf)
console.log("| file | mutants | noticed | score |\n| --- | --- | --- | --- |")
for (const { file, missed, noticed, score } of scores) {
  console.log(`| \`${file}\` | ${noticed + missed} | ${noticed} | ${score.toFixed(1)} % |`)
}
if (scores.some(({ score }) => score < MIN_SCORE)) {
  console.error(`each file must have at least ${MIN_SCORE} %`)
  process.exitCode = 1
}
