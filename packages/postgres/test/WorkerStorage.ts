/**
 * A storage with its own client, as each process has one.
 */
import { type Billing, type CurrentTenant, IdGenerator } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { Client } from "pg"
import { asTenant } from "./Tenants.ts"

type Services = Billing.Storage | IdGenerator | CurrentTenant | Scope.Scope

export interface Worker {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  readonly close: Effect.Effect<void>
}

/** Ends with the scope, if it was not closed before. */
export const startWorker = Effect.fnUntraced(function* (
  url: string,
  options: Partial<PostgresClient.ClientOptions> = {},
  storage: Parameters<typeof Storage.layer>[0] = {},
) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const client = PostgresClient.layer({ url: Redacted.make(url), ...options })
  const services = yield* Layer.buildWithScope(
    IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer(storage)), Layer.provide(client)),
    scope,
  )
  const run: Worker["run"] = (effect) =>
    asTenant(effect).pipe(Effect.provide(services), Effect.provideService(Scope.Scope, scope))
  const worker: Worker = { run, close: Scope.close(scope, Exit.void) }
  return worker
})

/** The rows of a statement, by a client that is not the library's. */
export const rows = (admin: Client, statement: string) =>
  Effect.promise(async () => (await admin.query<Record<string, unknown>>(statement)).rows)

/** Ends the session that shows that the owner of a name lives. */
export const endSession = (admin: Client, name: string) =>
  rows(
    admin,
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
and ((classid::bigint << 32) | objid::bigint) = hashtextextended('billwright worker of billwright: ${name}', 0)`,
  )
