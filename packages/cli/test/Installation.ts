import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * A server on a Postgres, a receiver, and the commands that people run against the server.
 */
import { PostgresClient } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Cli from "./Cli.ts"
import { Receiver } from "./Receiver.ts"
import { Tenant } from "./Tenant.ts"

export const TIMEOUT = 60_000

export class Installation {
  readonly receiver = new Receiver()
  readonly #directory = mkdtempSync(join(tmpdir(), "billwright-webhooks-"))
  readonly #scope = Scope.makeUnsafe()
  #server: Cli.Serving | undefined
  #superuserUrl = Redacted.make("")
  /** The environment of servers and workers. */
  env: Record<string, string> = {}

  async start(): Promise<void> {
    chmodSync(this.#directory, 0o755)
    const start = EmbeddedPostgres.start({ directory: join(this.#directory, "data") })
    const { superuserUrl, url } = await Effect.runPromise(Scope.provide(start, this.#scope))
    this.#superuserUrl = superuserUrl
    this.env = { DATABASE_URL: Redacted.value(url), ...Cli.ENCRYPTION }
    await this.receiver.start()
    this.#server = await this.another()
  }

  async stop(): Promise<void> {
    const code = await this.#server?.stop()
    await this.receiver.stop()
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
    rmSync(this.#directory, { recursive: true, force: true })
    assert.strictEqual(code, 0)
  }

  get server(): Cli.Serving {
    return this.#server!
  }

  get tenant(): Tenant {
    return new Tenant(this.server.url, this.server.keys.test)
  }

  /** Starts another server on the same Postgres. */
  another(...args: ReadonlyArray<string>): Promise<Cli.Serving> {
    return Cli.serve(["--store", "postgres", ...args], { env: this.env })
  }

  /** Stops the server, runs something, and starts the server again at the same address. */
  async without(act: () => Promise<void>, ...args: ReadonlyArray<string>): Promise<void> {
    const { keys, url } = this.server
    assert.strictEqual(await this.server.stop(), 0)
    await act()
    this.#server = { ...(await this.another("--port", new URL(url).port, ...args)), keys }
  }

  /** Runs a command with the test key, in this process. */
  run(...args: ReadonlyArray<string>): Promise<Cli.Finished> {
    return Cli.runHere(args, { env: this.callerEnv })
  }

  /** Runs statements on the database as the superuser, for changes that no command makes. */
  async sql(...statements: ReadonlyArray<string>): Promise<void> {
    const run = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }),
    )
    const client = PostgresClient.layer({ url: this.#superuserUrl })
    await Effect.runPromise(Effect.provide(run, client))
  }

  get callerEnv() {
    return { BILLWRIGHT_URL: this.server.url, BILLWRIGHT_API_KEY: this.server.keys.test }
  }
}
