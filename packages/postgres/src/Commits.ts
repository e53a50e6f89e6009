import { Signal } from "@billwright/core"
/**
 * News of what was committed: within this process at once, and between processes by `NOTIFY`.
 *
 * News only makes things faster: whoever waits for it looks by itself from time to time, so that none of it has
 * to arrive. Therefore it is sent after the commit and apart from it, and not by the transaction: `NOTIFY` in a
 * transaction makes all commits of the database that do so wait for each other.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Queue, RcRef, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "./Database.ts"
import { answeredWithin, waited } from "./Deadline.ts"

/** The channel of `NOTIFY`. A payload begins with the name of the schema. */
const CHANNEL = "billwright"

/** How long after one notification the next is sent, in milliseconds. */
const NOTIFY_INTERVAL_MILLIS = 5
/** How long sending one may take, in milliseconds. */
const NOTIFY_DEADLINE_MILLIS = 1_000
/** How long after a connection was lost, or not made, it is made again, in milliseconds. */
const RECONNECT_MILLIS = 1_000
/** Longest pause between two tries. */
const MAX_RECONNECT_MILLIS = 30_000

export interface CommitsService {
  /**
   * Tells of a commit: when the current transaction has committed, or at once outside of one. In a host's own
   * transaction, whose commit can't be seen, at once.
   */
  readonly announce: Effect.Effect<void>
  readonly subscribe: Effect.Effect<Signal.Awaiting, never, Scope.Scope>
}

export class Commits extends Context.Service<Commits, CommitsService>()("@billwright/postgres/Commits") {
  static readonly layer = (options: {
    readonly listen?: boolean
  }): Layer.Layer<Commits, never, Database | SqlClient.SqlClient> =>
    Layer.effect(
      Commits,
      Effect.suspend(() => make(options.listen ?? true)),
    )
}

const make = Effect.fnUntraced(function* (mayListen: boolean) {
  const database = yield* Database
  const own = Signal.make()
  const all = Signal.make()
  const notify = Effect.sync(() => {
    own.notify()
    all.notify()
  })
  const announce = Effect.flatMap(database.client, (sql) => sql.afterCommit(notify))

  const client = mayListen ? yield* listeningClient : undefined
  if (client === undefined) return Commits.of({ announce, subscribe: all.subscribe })

  const sender = `${database.schema} ${crypto.randomUUID()}`
  yield* Effect.forkScoped(broadcast(client, yield* own.subscribe, sender))
  // Listening takes a connection, so it is done as long as somebody wants to hear.
  const listener = yield* RcRef.make({
    acquire: Effect.forkScoped(
      listen(client, (payload) => {
        if (payload.startsWith(`${database.schema} `) && payload !== sender) all.notify()
      }),
    ),
  })
  return Commits.of({
    announce,
    subscribe: Effect.andThen(RcRef.get(listener), all.subscribe),
  })
})

/**
 * The client, if it can listen: one of our own kind that talks to the server itself. Behind a proxy that lends
 * connections for a transaction, and on a host's pool, there is no session to listen in.
 */
const listeningClient = Effect.map(
  Effect.all([SqlClient.SqlClient, Effect.serviceOption(PgClient.PgClient)]),
  ([sql, client]) => (Option.isSome(client) && isListening(client.value, sql) ? client.value : undefined),
)

const isListening = (client: PgClient.PgClient, sql: SqlClient.SqlClient): boolean =>
  (client as SqlClient.SqlClient) === sql && client.config.prepare !== false

/** Tells other processes of commits in this one: the first at once, and of many soon after each other together. */
const broadcast = (client: PgClient.PgClient, committed: Signal.Awaiting, sender: string) =>
  committed.pipe(
    Effect.andThen(
      answeredWithin(client.notify(CHANNEL, sender), NOTIFY_DEADLINE_MILLIS, () => new Error("too late")),
    ),
    Effect.ignore,
    Effect.andThen(waited(NOTIFY_INTERVAL_MILLIS)),
    Effect.forever,
  )

/** Hears of commits in other processes, on a connection that is made again whenever it is lost. */
const listen = (client: PgClient.PgClient, onNotification: (payload: string) => void) =>
  Effect.suspend(() => {
    let pause = RECONNECT_MILLIS
    const once = Effect.scoped(
      Effect.gen(function* () {
        // Closed after the connection, that is: the server is not asked to stop notifying, which it may never answer.
        const listening = yield* Effect.acquireRelease(Scope.make(), Scope.close)
        const connection = yield* PgConnection.make(client.config)
        const notifications = yield* Scope.provide(connection.listen(CHANNEL), listening)
        pause = RECONNECT_MILLIS
        return yield* Effect.forever(
          Effect.map(Queue.take(notifications), ({ payload }) => onNotification(payload)),
        )
      }),
    )
    return once.pipe(
      Effect.ignoreCause,
      Effect.andThen(
        Effect.suspend(() => {
          const current = pause
          pause = Math.min(pause * 2, MAX_RECONNECT_MILLIS)
          return waited(current)
        }),
      ),
      Effect.forever,
    )
  })
