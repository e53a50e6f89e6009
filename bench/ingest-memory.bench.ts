/**
 * The memory of a process that ingests 5 million records into Postgres. It must stay flat, below 200 MB.
 *
 * The process (`IngestProcess.ts`) does nothing else. Its heap is limited to 64 MiB of old space, because V8 uses as
 * much memory as it may before it collects garbage. Without the limit, on a machine with much memory, the same
 * process stays flat at a higher level.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"

const FLAGS = ["--max-old-space-size=64", "--max-semi-space-size=4"]
const LIMIT_MIB = 200

interface Sample {
  readonly records: number
  readonly residentMiB: number
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("bench_ingest_memory")
    const started = performance.now()
    const child = spawn(process.execPath, [...FLAGS, join(import.meta.dirname, "IngestProcess.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, DATABASE_URL: url },
    })
    const samples: Array<Sample> = []
    for await (const line of createInterface({ input: child.stdout })) {
      const sample = JSON.parse(line) as Sample
      samples.push(sample)
      console.log(`  ${sample.records.toLocaleString("en-US")} records, ${sample.residentMiB} MiB resident`)
    }
    const records = samples.at(-1)?.records ?? 0
    const recordsPerSecond = records / ((performance.now() - started) / 1000)
    const highestMiB = Math.max(...samples.map((sample) => sample.residentMiB))
    console.log(`at most ${highestMiB} MiB (limit ${LIMIT_MIB}), ${Math.round(recordsPerSecond)} records/s`)
    save("ingest-memory", {
      flags: FLAGS,
      records,
      recordsPerSecond,
      highestMiB,
      limitMiB: LIMIT_MIB,
      samples,
    })
  } finally {
    await server.stop()
  }
}
