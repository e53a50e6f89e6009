/**
 * A client of a Postgres server, for hosts that have no pool of their own.
 */
import { PgClient } from "@effect/sql-pg"
import { Config, type Duration, Effect, Layer, type Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { ANNOUNCES } from "./Notices.ts"
import { textTypes } from "./TextTypes.ts"
import { CONTROL_MILLIS, withBoundedTransactions } from "./TransactionControl.ts"

export interface ClientOptions {
  /**
   * For example `postgres://user:password@host:5432/database`. These parameters are understood: `sslmode` (`disable`,
   * `prefer`, and `require`, which verifies the certificate as `verify-full` does), `application_name`,
   * `connect_timeout` and `options`.
   */
  readonly url: Redacted.Redacted
  /** TLS: `true`, or options of `node:tls` such as `{ ca }`. Default: what the URL says. */
  readonly ssl?: PgClient.PgClientConfig["ssl"]
  /** The most connections of the pool. Default 10. */
  readonly poolSize?: number
  /** The time limit for connecting, including TLS and the password. Default 3 seconds. */
  readonly connectTimeout?: Duration.Input
  /**
   * The server's time limit for one statement, in milliseconds. Default 4,000, which is below the storage's deadline.
   * If BEGIN, COMMIT or ROLLBACK is not answered a second after this limit, its connection is closed.
   */
  readonly statementTimeoutMillis?: number
  /** The name of this process in the server's views and logs. Default `billwright`. */
  readonly applicationName?: string
  /**
   * Set it when a proxy such as PgBouncer lends connections for one transaction at a time. Then no statement is
   * prepared by name, and no setting is sent at the start: such proxies refuse both. Set the server's time-outs on
   * the role instead (`alter role … set statement_timeout = '4s'`). Default false.
   */
  readonly isPooled?: boolean
}

const DEFAULT_POOL_SIZE = 10
const DEFAULT_STATEMENT_TIMEOUT_MILLIS = 4_000
/** Ends an abandoned transaction, so that its locks are freed. Our own transactions never wait between statements. */
const IDLE_IN_TRANSACTION_TIMEOUT_MILLIS = 30_000

/**
 * How many statements a connection keeps prepared. An app that uses all of the library may run more than the 100 that the driver
 * keeps by default: then each would be parsed and planned anew. A statement takes some 50 kB of the server's memory.
 */
const PREPARED_STATEMENTS = 200

/** How long after the server's limit for a statement its answer may still arrive, in milliseconds. */
const ANSWER_MILLIS = 1_000

/** What is wrong with the URL of a database, after its name; `undefined` when it may be one. */
export const problemOfUrl = (url: unknown): string | undefined =>
  typeof url === "string" && /^postgres(ql)?:\/\//.test(url)
    ? undefined
    : "takes a URL that begins with postgres://"

/** A pool of connections. It connects at first use, so a layer with it builds even while the server is down. */
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
    preparedStatementCacheSize: PREPARED_STATEMENTS,
    types: textTypes(),
    ...(isPooled
      ? {}
      : {
          startupParameters: {
            statement_timeout: String(statementTimeout),
            idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MILLIS),
            [ANNOUNCES]: "after the commit",
          },
        }),
  })
  const controlMillis = statementTimeout === 0 ? CONTROL_MILLIS : statementTimeout + ANSWER_MILLIS
  return PgClient.layerFrom(Effect.map(client, (made) => withBoundedTransactions(made, controlMillis)))
}

/**
 * The same from environment variables: `DATABASE_URL`, `DATABASE_POOL_SIZE`, `DATABASE_STATEMENT_TIMEOUT_MS`,
 * `DATABASE_POOLED` (`true` behind a transaction-pooling proxy) and `DATABASE_CA` (PEM certificates that verify the
 * server's).
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
