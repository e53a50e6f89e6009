/**
 * B10: the cost of `billwright` at a host's start: importing the published package and creating the first customer on
 * the memory store. Each time in a new process, compared with a process that does nothing.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { save } from "./Comparison.ts"
import { percentile } from "./Statistics.ts"

const RUNS = 15
const LIMIT_MILLIS = 150
const LIMIT_MEGABYTES = 60

const root = dirname(import.meta.dirname)
/** The dependencies, taken from the workspace. */
const DEPENDENCIES = ["undici"]

const START = `
const { system, user } = process.cpuUsage()
const started = performance.now()
const { createBilling } = await import("billwright")
const { memory } = await import("billwright/memory")
const imported = performance.now()
const billing = await createBilling({ store: memory() })
await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
const done = performance.now()
const used = process.cpuUsage({ system, user })
const { rss } = process.memoryUsage()
console.log(
  JSON.stringify({
    importMillis: imported - started,
    callMillis: done - imported,
    cpuMillis: (used.user + used.system) / 1000,
    rss,
  }),
)
process.exit()
`
const NOTHING = `console.log(JSON.stringify({ importMillis: 0, callMillis: 0, cpuMillis: 0, rss: process.memoryUsage().rss }))`

interface Sample {
  readonly importMillis: number
  readonly callMillis: number
  /** The processor time of both. On a busy machine it says more than the clock. */
  readonly cpuMillis: number
  readonly rss: number
}

/** The published packages, in a folder from which no source of the workspace can be found. */
const install = (directory: string): void => {
  execFileSync("tsc", ["-b"], { cwd: root, stdio: "inherit" })
  execFileSync(process.execPath, [join(root, "scripts/stage.ts")], { stdio: "inherit" })
  const modules = join(directory, "node_modules")
  mkdirSync(join(modules, "@billwright"), { recursive: true })
  for (const name of DEPENDENCIES) symlinkSync(join(root, "node_modules", name), join(modules, name))
  for (const [folder, name] of [
    ["billwright", "billwright"],
    ["dashboard", "@billwright/dashboard"],
  ] as const) {
    cpSync(join(root, "packages", folder, ".package"), join(modules, name), { recursive: true })
  }
}

const measure = (directory: string, script: string, env: NodeJS.ProcessEnv = {}): Sample =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, ...env },
    }),
  ) as Sample

const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5)

const totalOf = ({ callMillis, importMillis }: Sample): number => importMillis + callMillis

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), "bench-import-"))
  try {
    install(directory)
    const starts: Array<Sample> = []
    const empty: Array<Sample> = []
    // The same with NODE_COMPILE_CACHE, from the host's second start on.
    const cached: Array<Sample> = []
    const cache = { NODE_COMPILE_CACHE: join(directory, "cache") }
    measure(directory, START, cache)
    for (let index = 0; index < RUNS; index++) {
      empty.push(measure(directory, NOTHING))
      starts.push(measure(directory, START))
      cached.push(measure(directory, START, cache))
    }
    const total = starts.map(totalOf)
    const results = {
      runs: RUNS,
      importMillis: median(starts.map(({ importMillis }) => importMillis)),
      callMillis: median(starts.map(({ callMillis }) => callMillis)),
      totalMillis: median(total),
      bestTotalMillis: Math.min(...total),
      cpuMillis: median(starts.map(({ cpuMillis }) => cpuMillis)),
      cachedTotalMillis: median(cached.map(totalOf)),
      cachedCpuMillis: median(cached.map(({ cpuMillis }) => cpuMillis)),
      limitMillis: LIMIT_MILLIS,
      emptyMegabytes: median(empty.map(({ rss }) => rss)) / 1e6,
      addedMegabytes: (median(starts.map(({ rss }) => rss)) - median(empty.map(({ rss }) => rss))) / 1e6,
      limitMegabytes: LIMIT_MEGABYTES,
    }
    console.log(
      `import ${results.importMillis.toFixed(0)} ms and first customer ${results.callMillis.toFixed(0)} ms: ` +
        `${results.totalMillis.toFixed(0)} ms, at best ${results.bestTotalMillis.toFixed(0)} ms (limit ${LIMIT_MILLIS}); ` +
        `${results.cpuMillis.toFixed(0)} ms of processor time; with a compile cache ${results.cachedTotalMillis.toFixed(0)} ms, ` +
        `${results.cachedCpuMillis.toFixed(0)} ms of processor time; ` +
        `${results.addedMegabytes.toFixed(0)} MB above an empty process (limit ${LIMIT_MEGABYTES})`,
    )
    save("import", results)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
