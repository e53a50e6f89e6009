/**
 * Storage on PostgreSQL 15 to 18.
 */
import { Input } from "@billwright/core"
import { Host, HostBridge, PostgresClient, SchemaName, Storage } from "@billwright/postgres"
import { Layer, Redacted, Result, Schema } from "effect"
import { ConfigurationError } from "./errors/RuntimeError.ts"
import * as Explanations from "./postgres/Explanations.ts"
import { toHostClient } from "./postgres/HostTransaction.ts"
import type { PgPool, TransactionClient } from "./postgres/PgPool.ts"
import * as OptionRules from "./runtime/OptionRules.ts"
import { makeStore, type StoreParts } from "./runtime/StoreParts.ts"
import type { Store } from "./Store.ts"

export { embedded } from "./postgres/EmbeddedStore.ts"
export type { EmbeddedOptions, EmbeddedStore } from "./postgres/EmbeddedStore.ts"
export type { PgPool, PgPoolClient, TransactionClient } from "./postgres/PgPool.ts"
export type { Store } from "./Store.ts"

interface SchemaOptions {
  /** The Postgres schema that holds the library's tables. Default `billwright`. */
  readonly schema?: string
  /**
   * Whether `createBilling` migrates the schema. Default `true`. With `false` it runs no DDL, and rejects when the
   * schema is not the one that this release needs. Run `npx @billwright/cli migrate --store postgres` to update it.
   */
  readonly migrate?: boolean
  /** How long a call or transaction may take, in milliseconds, including waiting and retries. Default 4,500. */
  readonly deadlineMillis?: number
}

/** Options for your own pool. Its size and time-outs apply, and the library never ends it. */
export interface PoolOptions extends SchemaOptions {
  /**
   * A `pg.Pool`, or an object with the same interface. A pool emits `error` when it loses an idle connection, and
   * the process ends if nobody listens. If you don't listen, billing does until it is closed, and logs the error.
   */
  readonly pool: PgPool
  readonly url?: never
}

/** Options for connections that the library opens itself. */
export interface UrlOptions extends SchemaOptions {
  /** `postgres://user:password@host:5432/database?sslmode=require` */
  readonly url: string
  readonly pool?: never
  /** The most connections. Default 10. */
  readonly poolSize?: number
  /** Whether to use TLS, or options of node:tls such as `{ ca }`. Default: as the URL says. */
  readonly ssl?: boolean | { readonly ca?: string; readonly rejectUnauthorized?: boolean }
  /** Set it behind a pooler that assigns connections per transaction, such as PgBouncer. Default `false`. */
  readonly isPooled?: boolean
}

const problemOfPool = (pool: unknown): string | undefined => {
  if ((typeof pool !== "object" && typeof pool !== "function") || pool === null)
    return "is not a pool: pass a new pg.Pool()"
  const got = pool as {
    readonly connect?: unknown
    readonly connectionParameters?: unknown
    readonly unsafe?: unknown
  }
  if (got.unsafe !== undefined) return "belongs to postgres.js: pass { url } instead"
  if (Explanations.isEnded(pool)) return "has been ended: pass an open one"
  if (got.connectionParameters !== undefined) return "is a single client: pass a new pg.Pool()"
  return typeof got.connect === "function" ? undefined : "has no connect(): pass a new pg.Pool()"
}

const clientLayer = (options: PoolOptions | UrlOptions) => {
  const { pool, url } = (options ?? {}) as { readonly pool?: unknown; readonly url?: unknown }
  if (pool === undefined && url === undefined && Object.hasOwn(options ?? {}, "url")) {
    throw new ConfigurationError(
      "the url of postgres({ url }) is undefined: the environment variable that it is read from may be unset",
    )
  }
  if ((pool === undefined) === (url === undefined)) {
    throw new ConfigurationError("postgres takes either a pool or a url: postgres({ pool: new pg.Pool() })")
  }
  if (url !== undefined) {
    const problem = PostgresClient.problemOfUrl(url)
    if (problem !== undefined) throw new ConfigurationError(`postgres({ url }) ${problem}`)
    const { isPooled, poolSize, ssl } = options as UrlOptions
    return PostgresClient.layer({
      url: Redacted.make(url as string),
      ...(poolSize === undefined ? {} : { poolSize }),
      ...(ssl === undefined ? {} : { ssl }),
      ...(isPooled === undefined ? {} : { isPooled }),
    })
  }
  const problem = problemOfPool(pool)
  if (problem !== undefined) throw new ConfigurationError(`the pool of postgres({ pool }) ${problem}`)
  return Host.fromPool(pool as PgPool)
}

const checkSchema = (schema: string): void => {
  const result = Schema.decodeUnknownResult(SchemaName.SchemaName)(schema)
  if (Result.isSuccess(result)) return
  throw new ConfigurationError(Input.fromIssue(result.failure.issue, "schema").message)
}

const checkOptions = OptionRules.fields({
  pool: OptionRules.anything,
  url: OptionRules.anything,
  schema: OptionRules.must((value) => typeof value === "string", "text"),
  migrate: OptionRules.boolean,
  deadlineMillis: OptionRules.integer(1),
  poolSize: OptionRules.integer(1),
  ssl: OptionRules.must(
    (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
    "true, false or options of node:tls",
  ),
  isPooled: OptionRules.boolean,
})

/**
 * Storage on your Postgres. Connects only when you call `createBilling`. Throws a `ConfigurationError` when an
 * option is wrong.
 */
export const postgres = (options: PoolOptions | UrlOptions): Store => {
  const client = clientLayer(options)
  checkOptions(options, "postgres")
  const { deadlineMillis, migrate = true, schema } = options
  if (schema !== undefined) checkSchema(schema)
  const settings = {
    ...(schema === undefined ? {} : { schema }),
    ...(deadlineMillis === undefined ? {} : { deadlineMillis }),
  }
  const storage = migrate ? Storage.layer(settings) : Storage.layerStorage(settings)
  const parts: StoreParts = {
    layer: storage.pipe(Layer.provide(client)),
    explain: (failure) => Explanations.atStart(failure, options.pool),
    join: (transaction) => ({
      run: Host.joining(toHostClient(transaction)),
      explain: (error) => Explanations.inTransaction(error, schema ?? SchemaName.DEFAULT_SCHEMA),
    }),
  }
  return makeStore("postgres", parts)
}

/**
 * Wraps the `tx` of Drizzle's `db.transaction(async (tx) => …)` for `billing.transaction`. `sql` is that of
 * `drizzle-orm`.
 */
export const fromDrizzle: <Sql>(
  transaction: { execute(query: Sql): PromiseLike<unknown> },
  sql: { raw(text: string): Sql; param(value: unknown): unknown; join(parts: Array<never>): Sql },
) => TransactionClient = HostBridge.fromDrizzle

/**
 * Wraps the `trx` of Kysely's `db.transaction().execute(async (trx) => …)` for `billing.transaction`.
 * `compiledQuery` is Kysely's `CompiledQuery`.
 */
export const fromKysely: <Query>(
  transaction: { executeQuery(query: Query): Promise<{ readonly rows: ReadonlyArray<unknown> }> },
  compiledQuery: { raw(sql: string, parameters?: Array<unknown>): Query },
) => TransactionClient = HostBridge.fromKysely
