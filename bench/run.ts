/**
 * Runs benchmarks: `npm run bench` all of them, `npm run bench -- <name>` those named. With `--quick` each runs one
 * round, to check that it works, and its figures are not kept. `--millions=1,10,50` sets the amounts of stored data
 * for the benchmarks that measure their influence (`growth-…`).
 *
 * A benchmark is a file `bench/<name>.bench.ts` that exports `run: () => Promise<void>`.
 */
import { readdirSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"

interface Benchmark {
  readonly run: () => Promise<void>
}

const available = readdirSync(dirname(fileURLToPath(import.meta.url)))
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.slice(0, -".bench.ts".length))
  .toSorted()

const listing = available.length === 0 ? "none yet" : available.join(", ")
const given = process.argv.slice(2)
const asked = given.filter((word) => !word.startsWith("--"))
if (given.includes("--quick")) process.env["BENCH_QUICK"] = "1"
const MILLIONS = "--millions="
const millions = given.findLast((word) => word.startsWith(MILLIONS))
if (millions !== undefined) process.env["BENCH_MILLIONS"] = millions.slice(MILLIONS.length)
const unknown = [
  ...asked.filter((name) => !available.includes(name)),
  ...given.filter((word) => word.startsWith("--") && word !== "--quick" && !word.startsWith(MILLIONS)),
]

if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}. The benchmarks are: ${listing}.`)
  process.exitCode = 1
} else if (available.length === 0) {
  console.log(`Benchmarks: ${listing}.`)
} else {
  for (const name of asked.length === 0 ? available : asked) {
    console.log(`# ${name}`)
    const started = performance.now()
    const { run } = (await import(`./${name}.bench.ts`)) as Benchmark
    await run()
    console.log(`# ${name} took ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
  }
}
