/**
 * The contracts on a schema with row-level security, by a login that has the rights of an application.
 */
import { PostgresClient, Storage } from "@billwright/postgres"
import { InvoicingContract, StorageContract } from "@billwright/testing"
import { Effect, Layer, Redacted } from "effect"
import * as Logins from "./Logins.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** With row-level security a statement is four round trips, and behind a pooler each of them is two. */
const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 180_000 } as const

/** What the contracts do and an application does not. Triggers refuse it for all of them but keys. */
const MORE = {
  api_keys: "insert, update",
  audit_records: "update, delete",
  invoice_proofs: "update, delete",
  rate_cards: "delete",
}

const login = Effect.gen(function* () {
  const made = yield* Logins.secured
  const app = yield* made.login("app")
  const { schema, superuser } = made
  const grants = Object.entries(MORE).map(
    ([table, rights]) => `grant ${rights} on ${schema}.${table} to ${schema}_app_login`,
  )
  yield* Effect.promise(() => TestDatabase.execute(superuser.url, ...grants))
  return app
})

interface Route {
  readonly name: string
  /** The URL to connect to instead of that of a database. Default: the same. */
  readonly through?: (url: string) => string
  readonly isPooled?: boolean
}

/** Defines the tests of all contracts. */
export const suites = ({ isPooled = false, name, through = (url) => url }: Route): void => {
  const ownClient = Layer.unwrap(
    Effect.map(login, ({ schema, url }) =>
      Storage.layerStorage({ schema }).pipe(
        Layer.provide(PostgresClient.layer({ url: Redacted.make(through(url)), isPooled })),
      ),
    ),
  )
  const hostPool = Layer.unwrap(
    Effect.map(login, ({ schema, url }) =>
      Storage.layerStorage({ schema }).pipe(
        Layer.provide(TestDatabase.layerHostPool(Effect.succeed(through(url)))),
      ),
    ),
  )
  StorageContract.suite(name, ownClient, { ...options, runs: 8 })
  StorageContract.suite(`${name}, on the host's pool`, hostPool, { ...options, runs: 8 })
  InvoicingContract.suite(name, ownClient, options)
}
