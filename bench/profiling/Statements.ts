/**
 * Which statements Postgres spent its time on (`pg_stat_statements`). Used only while a benchmark is profiled.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"

/** The folder for profiles; `undefined` when nothing is profiled. */
export const folder = process.env["BENCH_PROFILES"]

/** The file in that folder. */
export const FILE = "postgres.json"

/** The options to start the server with. */
export const settings: Readonly<Record<string, string>> =
  folder === undefined
    ? {}
    : {
        shared_preload_libraries: "pg_stat_statements",
        "pg_stat_statements.track": "all",
        "pg_stat_statements.track_planning": "on",
      }

const MAX_STATEMENTS = 12

export interface Statements {
  /** Processor time of all processes of the server. */
  readonly cpuSeconds: number
  readonly statements: ReadonlyArray<{
    readonly text: string
    readonly calls: number
    /** How long it ran, without planning. */
    readonly millis: number
    /** How often it was planned. A statement that is planned in each call may take longer to plan than to run. */
    readonly plans: number
    readonly planMillis: number
    /** Whether a function ran it. Its time is then part of that function's. */
    readonly isNested: boolean
  }>
}

/** Saves what a server did for our schema. `url`: of any of its databases. */
export const keep = async (url: string, cpuMicros: number): Promise<void> => {
  if (folder === undefined) return
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("create extension if not exists pg_stat_statements")
  const { rows } = await client.query<{
    text: string
    calls: number
    millis: number
    plans: number
    planMillis: number
    nested: boolean
  }>(
    `select regexp_replace(left(query, 400), '\\s+', ' ', 'g') as text, sum(calls)::integer as calls,
  sum(total_exec_time)::float8 as millis, sum(plans)::integer as plans, sum(total_plan_time)::float8 as "planMillis",
  not bool_or(toplevel) as nested
from pg_stat_statements where query like '%billwright%' group by 1 order by sum(total_exec_time + total_plan_time) desc limit ${MAX_STATEMENTS}`,
  )
  await client.end()
  const statements = rows.map(({ nested, ...row }) => ({ ...row, isNested: nested }))
  writeFileSync(join(folder, FILE), JSON.stringify({ cpuSeconds: cpuMicros / 1e6, statements }))
}
