/**
 * The start of `billwright serve` on a store that exists, and its memory when it is idle: the published command, in a new
 * process each time, with the clock of that process. The first start, which migrates and fills the compile cache, is
 * reported by itself.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { install } from "./PublishedCommand.ts"
import { roundsOf } from "./Rounds.ts"
import { intervalOf } from "./Statistics.ts"

const RUNS = roundsOf()
/** How long a server is idle before its memory is read. */
const IDLE_MILLIS = 5_000
const LIMIT_MILLIS = 800
const LIMIT_MEGABYTES = 100

/**
 * Runs in the server before its own code. Reports the time since the process began when the last line of the start is
 * printed, and the memory after a while.
 */
const WATCH = `
const write = process.stdout.write.bind(process.stdout)
let isReady = false
process.stdout.write = (text, ...rest) => {
  const written = write(text, ...rest)
  if (!isReady && String(text).includes("API reference")) {
    isReady = true
    const readyMillis = performance.now()
    const { system, user } = process.cpuUsage()
    setTimeout(() => {
      const { rss } = process.memoryUsage()
      write("report " + JSON.stringify({ readyMillis, cpuMillis: (system + user) / 1000, rss }) + "\\n")
    }, ${IDLE_MILLIS})
  }
  return written
}
`

interface Sample {
  /** From the start of the process to the line that says that it listens. */
  readonly readyMillis: number
  /** The processor time of the same. On a busy machine it says more than the clock. */
  readonly cpuMillis: number
  /** Resident memory after it was idle. */
  readonly rss: number
}

const start = async (command: string, env: Record<string, string>): Promise<Sample> => {
  const watch = `data:text/javascript,${encodeURIComponent(WATCH)}`
  const args = ["serve", "--store", "postgres", "--allow-plaintext-secrets", "--port", "0"]
  const child = spawn(process.execPath, ["--import", watch, command, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  })
  const ended = once(child, "exit")
  for await (const line of createInterface({ input: child.stdout })) {
    const report = /^report (.*)$/.exec(line)?.[1]
    if (report === undefined) continue
    child.kill("SIGTERM")
    await ended
    return JSON.parse(report) as Sample
  }
  throw new Error("the server did not start")
}

const all = (samples: ReadonlyArray<Sample>, of: keyof Sample): ReadonlyArray<number> =>
  samples.map((sample) => sample[of])

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), "bench-serve-"))
  const postgres = await PostgresServer.start()
  try {
    const command = install(directory)
    const env = {
      DATABASE_URL: await postgres.createDatabase("serve_start"),
      NODE_COMPILE_CACHE: join(directory, "cache"),
    }
    const first = await start(command, env)
    const samples: Array<Sample> = []
    for (let index = 0; index < RUNS; index++) samples.push(await start(command, env))
    const results = {
      runs: RUNS,
      readyMillis: intervalOf(all(samples, "readyMillis")),
      bestReadyMillis: Math.min(...all(samples, "readyMillis")),
      cpuMillis: intervalOf(all(samples, "cpuMillis")),
      limitMillis: LIMIT_MILLIS,
      idleMegabytes: intervalOf(all(samples, "rss").map((bytes) => bytes / 1e6)),
      firstReadyMillis: first.readyMillis,
      firstMegabytes: first.rss / 1e6,
      limitMegabytes: LIMIT_MEGABYTES,
    }
    console.log(
      `ready after ${results.readyMillis.median.toFixed(0)} ms, at best ${results.bestReadyMillis.toFixed(0)} ms (limit ${LIMIT_MILLIS}), ` +
        `${results.cpuMillis.median.toFixed(0)} ms of processor time; idle with ${results.idleMegabytes.median.toFixed(0)} MB (limit ${LIMIT_MEGABYTES}); ` +
        `the first start ${results.firstReadyMillis.toFixed(0)} ms and ${results.firstMegabytes.toFixed(0)} MB`,
    )
    save("serve-start", results)
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true })
  }
}
