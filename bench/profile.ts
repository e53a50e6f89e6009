/**
 * Shows which code a benchmark spends its time in: `npm run bench:profile -- ingest webhooks`. Runs only our side,
 * with a profile of every Node process and the times of Postgres's statements. Writes
 * `bench/results/profiles/<name>.json`.
 *
 * Profiling costs time itself, so the figures are only shares.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readAll, type ScriptProfile } from "./profiling/CpuProfile.ts"
import { FILE, type Statements } from "./profiling/Statements.ts"

const RESULTS = join(import.meta.dirname, "results/profiles")

const profile = (name: string): void => {
  const folder = mkdtempSync(join(tmpdir(), "billwright-profile-"))
  try {
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, "run.ts"), name], {
      stdio: "inherit",
      env: {
        ...process.env,
        BENCH_PROFILES: folder,
        NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --cpu-prof --cpu-prof-dir=${folder}`,
      },
    })
    if (status !== 0) throw new Error(`the benchmark ${name} ended with ${status}`)
    const files = readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"))
    const processes = readAll(files.map((file) => join(folder, file)))
    const statements = join(folder, FILE)
    const postgres = existsSync(statements)
      ? (JSON.parse(readFileSync(statements, "utf8")) as Statements)
      : undefined
    mkdirSync(RESULTS, { recursive: true })
    const result = { name, measuredAt: new Date().toISOString(), node: process.version, processes, postgres }
    writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
    print(result)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

interface Result {
  readonly postgres: Statements | undefined
  readonly processes: ReadonlyArray<ScriptProfile>
}

const print = ({ postgres, processes }: Result): void => {
  for (const { busy, parts, processes: count, script, seconds } of processes) {
    console.log(`${script}, ${count} processes: busy ${percent(busy)} of ${seconds.toFixed(1)} s`)
    for (const { name, share } of parts) console.log(`  ${percent(share).padStart(5)} ${name}`)
  }
  if (postgres === undefined) return
  console.log(`Postgres: ${postgres.cpuSeconds.toFixed(1)} s of processor time`)
  for (const { calls, isNested, millis, planMillis, plans, text } of postgres.statements) {
    console.log(
      `  ${millis.toFixed(0).padStart(7)} ms in ${calls} calls${isNested ? ", nested" : ""}, and ${planMillis.toFixed(0)} ms in ${plans} plans: ${text.slice(0, 90)}`,
    )
  }
}

const names = process.argv.slice(2)
if (names.length === 0) {
  console.error("Name the benchmarks to profile: npm run bench:profile -- ingest webhooks")
  process.exitCode = 1
}
for (const name of names) profile(name)
