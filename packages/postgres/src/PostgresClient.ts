/**
 * A client of a Postgres server, for hosts that have none of their own.
 */
import { PgClient } from "@effect/sql-pg"
import { Config, type Duration, Effect, Layer, type Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { CONTROL_MILLIS, withBoundedTransactions } from "./TransactionControl.ts"

export interface ClientOptions {
  /**
   * `postgres://user:password@host:5432/database`. `sslmode=disable`, `prefer` and `require` (which verifies the
   * certificate, as `verify-full` does), `application_name`, `connect_timeout` and `options` are understood.
   */
  readonly url: Redacted.Redacted
  /** TLS: `true`, or options of `node:tls` such as `{ ca }`. Default: what the URL says. */
  readonly ssl?: PgClient.PgClientConfig["ssl"]
  /** Most connections. Default 10. */
  readonly poolSize?: number
  /** How long connecting may take, TLS and password included. Default 3 seconds. */
  readonly connectTimeout?: Duration.Input
  /**
   * How long the server works on one statement, in milliseconds. Default 4,000, below the storage's deadline.
   * A second later the connection of a transaction whose BEGIN, COMMIT or ROLLBACK nobody answers is given up.
   */
  readonly statementTimeoutMillis?: number
  /** What the server calls this process in its own views and logs. Default `billwright`. */
  readonly applicationName?: string
  /**
   * Set it when a proxy such as PgBouncer lends connections for a transaction at a time. Then no statement is
   * prepared by name and no setting is sent at the start, which such proxies refuse: time-outs of the server
   * have to be set on the role (`alter role … set statement_timeout = '4s'`). Default false.
   */
  readonly isPooled?: boolean
}

const DEFAULT_POOL_SIZE = 10
const DEFAULT_STATEMENT_TIMEOUT_MILLIS = 4_000
/** An abandoned transaction must not hold its locks for ever. Ours wait for nobody between two statements. */
const IDLE_IN_TRANSACTION_TIMEOUT_MILLIS = 30_000

/** How much longer than the server works on a statement its answer may take, in milliseconds. */
const ANSWER_MILLIS = 1_000

/** A pool of connections. It connects when first needed, so a server that is down doesn't keep it from starting. */
export const layer = (
  options: ClientOptions,
): Layer.Layer<SqlClient.SqlClient | PgClient.PgClient, SqlError.SqlError> => {
  const isPooled = options.isPooled ?? false
  const statementTimeout = options.statementTimeoutMillis ?? DEFAULT_STATEMENT_TIMEOUT_MILLIS
  const client = PgClient.make({
    url: options.url,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    maxConnections: options.poolSize ?? DEFAULT_POOL_SIZE,
    connectTimeout: options.connectTimeout ?? "3 seconds",
    keepAlive: "10 seconds",
    applicationName: options.applicationName ?? "billwright",
    prepare: !isPooled,
    ...(isPooled
      ? {}
      : {
          startupParameters: {
            statement_timeout: String(statementTimeout),
            idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MILLIS),
          },
        }),
  })
  const controlMillis = statementTimeout === 0 ? CONTROL_MILLIS : statementTimeout + ANSWER_MILLIS
  return PgClient.layerFrom(Effect.map(client, (made) => withBoundedTransactions(made, controlMillis)))
}

/**
 * The same from the environment: `DATABASE_URL`, `DATABASE_POOL_SIZE`, `DATABASE_STATEMENT_TIMEOUT_MS`,
 * `DATABASE_POOLED` (true behind a transaction-pooling proxy) and `DATABASE_CA` (certificates that the server's
 * is verified by, as PEM).
 */
export const layerConfig: Layer.Layer<
  SqlClient.SqlClient | PgClient.PgClient,
  SqlError.SqlError | Config.ConfigError
> = Layer.unwrap(
  Effect.gen(function* () {
    const ca = yield* Config.String("DATABASE_CA").pipe(Config.withDefault(""))
    const poolSize = yield* Config.Int("DATABASE_POOL_SIZE").pipe(Config.withDefault(DEFAULT_POOL_SIZE))
    const statementTimeoutMillis = yield* Config.Int("DATABASE_STATEMENT_TIMEOUT_MS").pipe(
      Config.withDefault(DEFAULT_STATEMENT_TIMEOUT_MILLIS),
    )
    const isPooled = yield* Config.Boolean("DATABASE_POOLED").pipe(Config.withDefault(false))
    return layer({
      url: yield* Config.Redacted("DATABASE_URL"),
      ...(ca === "" ? {} : { ssl: { ca } }),
      poolSize,
      statementTimeoutMillis,
      isPooled,
    })
  }),
)
