import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * The Postgres for benchmarks: that of DATABASE_URL, or an embedded one in a temporary directory, with `fsync` and
 * `synchronous_commit` on and the memory settings of a small dedicated server.
 */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Client } from "pg"
import { clusterCpuMicros, parentOf } from "./ProcessTime.ts"
import * as Statements from "./profiling/Statements.ts"

const SETTINGS = {
  shared_buffers: "1GB",
  max_wal_size: "8GB",
  min_wal_size: "2GB",
  checkpoint_timeout: "15min",
  max_connections: "200",
  ...Statements.settings,
}

export interface PostgresServer {
  /** The URL of a new, empty database. */
  readonly createDatabase: (name: string) => Promise<string>
  readonly version: string
  /** The id of its first process; `undefined` when it runs on another machine. */
  readonly postmaster: number | undefined
  readonly stop: () => Promise<void>
}

const query = async (url: string, text: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const embedded = async () => {
  const directory = await mkdtemp(join(tmpdir(), "billwright-bench-"))
  const scope = Scope.makeUnsafe()
  const server = await Effect.runPromise(
    Scope.provide(EmbeddedPostgres.start({ directory, settings: SETTINGS }), scope),
  )
  return {
    url: Redacted.value(server.superuserUrl),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Finds it through a connection whose backend is a process of this machine. */
const postmasterOf = async (url: string): Promise<number | undefined> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number; is_local: boolean }>(
      "select pg_backend_pid() as pid, inet_server_addr() is not distinct from inet_client_addr() as is_local",
    )
    return rows[0]?.is_local === true ? parentOf(rows[0].pid) : undefined
  } finally {
    await client.end()
  }
}

/**
 * Makes the files that Postgres writes its log to next, 1 GB of them, as on a server that has run for a while and reuses its
 * files. A new server makes each when it is needed, and all commits wait meanwhile.
 */
export const makeLogFiles = async (client: Client): Promise<void> => {
  for (let file = 0; file < 64; file++) {
    await client.query("select pg_logical_emit_message(true, 'bench', '')")
    await client.query("select pg_switch_wal()")
  }
  await client.query("checkpoint")
}

/** Starts a server, or uses the one of DATABASE_URL. */
export const start = async (): Promise<PostgresServer> => {
  const given = process.env["DATABASE_URL"] ?? ""
  const { stop, url } = given === "" ? await embedded() : { url: given, stop: async () => {} }
  const [row] = await query(url, "select current_setting('server_version') as version")
  const postmaster = await postmasterOf(url)
  return {
    version: String(row?.["version"]),
    postmaster,
    stop: async () => {
      try {
        await Statements.keep(url, postmaster === undefined ? 0 : clusterCpuMicros(postmaster))
      } finally {
        await stop()
      }
    },
    createDatabase: async (name) => {
      await query(url, `drop database if exists ${name} with (force)`)
      await query(url, `create database ${name}`)
      const created = new URL(url)
      created.pathname = `/${name}`
      return created.href
    },
  }
}
