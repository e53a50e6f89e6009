/**
 * Runs benchmarks: `npm run bench` all of them, `npm run bench -- <name>` those named.
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
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !available.includes(name))

if (unknown.length > 0) {
  console.error(`No benchmark is called ${unknown.join(", ")}. There are: ${listing}.`)
  process.exitCode = 1
} else if (available.length === 0) {
  console.log(`Benchmarks: ${listing}.`)
} else {
  for (const name of asked.length === 0 ? available : asked) {
    console.log(`# ${name}`)
    const { run } = (await import(`./${name}.bench.ts`)) as Benchmark
    await run()
  }
}
