/**
 * Tells waiting code that something was committed: at once within this process, and by `NOTIFY` between processes.
 *
 * These signals only save time. Code that waits also checks by itself from time to time, so a lost signal does no
 * harm. All commits of the server that use `NOTIFY` wait for each other. So a publication notifies within its own
 * transaction only as often as takes a small part of the time, and its receivers hear of it as early as can be. All other
 * commits are notified of afterwards, outside of transactions. For transactions whose commit this library does not see, the
 * function `announce_commit` notifies from within, and seldom.
 *
 * The connection that listens also shows that this process lives: see `WorkerSession`.
 */
import { Signal } from "@billwright/core"
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Queue, RcRef, Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "./Database.ts"
import { answeredWithin, waited } from "./Deadline.ts"
import { HostTransaction } from "./host/HostTransaction.ts"
import * as Notices from "./Notices.ts"
import { NOTIFY_INTERVAL_MILLIS, NoticeTime } from "./NoticeTime.ts"
import * as WorkerSession from "./WorkerSession.ts"

/**
 * What a commit means for those who wait: nothing; events whose deliveries were all handed over; or events with deliveries
 * that may be due.
 */
type News = "none" | "events" | "due"

/**
 * The pauses after which an early signal is repeated, in milliseconds. A transaction that commits after the signal is
 * noticed soon, compared with how long it took.
 */
const ECHO_MILLIS: ReadonlyArray<number> = [15, 45, 135, 405]
/** How long sending a notification may take, in milliseconds. */
const NOTIFY_DEADLINE_MILLIS = 1_000
/** The first pause before reconnecting, after a connection was lost or failed, in milliseconds. */
const RECONNECT_MILLIS = 1_000
/** The longest pause before reconnecting, in milliseconds. */
const MAX_RECONNECT_MILLIS = 30_000

/** Who is told of deliveries that publications of other processes leased to this worker. */
interface Taker {
  readonly take: (handed: ReadonlyArray<Notices.Handed>) => void
  /** The worker has this name no more. It may have missed what was leased to it. */
  readonly dropped: (name: string) => void
}

export interface CommitsService {
  /**
   * Signals a commit that may have due deliveries: after the current transaction has committed, or at once outside of a
   * transaction. We can't see the commit of a host's own transaction. So it signals at once, and some times more in the half
   * second after it.
   */
  readonly announce: Effect.Effect<void>
  /**
   * Runs a statement that is a transaction of its own, or part of one, and announces its commit as its result says. What it
   * gets is how the payload begins with which the statement notifies of its own commit (`Notices.read`), or `null`.
   */
  readonly announcing: <A, E, R>(
    statement: (notice: string | null) => Effect.Effect<A, E, R>,
    newsOf: (result: A) => News,
  ) => Effect.Effect<A, E, R>
  /** Signals commits of all kinds. */
  readonly subscribe: Effect.Effect<Signal.Awaiting, never, Scope.Scope>
  /** Signals commits with due deliveries. Those of other processes may have none. */
  readonly subscribeDue: Effect.Effect<Signal.Awaiting, never, Scope.Scope>
  /** Tells what publications of other processes leased to this worker, until the scope closes. */
  readonly handed: (taker: Taker) => Effect.Effect<void, never, Scope.Scope>
  /** This process among those that share the storage. */
  readonly worker: WorkerSession.Worker
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
  /** For other processes. */
  const own = Signal.make()
  const all = Signal.make()
  const due = Signal.make()
  const notifyHere = (news: News) => {
    if (news !== "none") all.notify()
    if (news === "due") due.notify()
  }
  const early = Signal.make()
  yield* Effect.forkScoped(echo(yield* early.subscribe, () => notifyHere("due")))
  const announceAs = (news: News) => {
    if (news === "none") return Effect.void
    const notify = Effect.sync(() => {
      own.notify()
      notifyHere(news)
    })
    return Effect.flatMap(HostTransaction, (joined) =>
      joined === undefined
        ? Effect.flatMap(database.client, (sql) => sql.afterCommit(notify))
        : Effect.andThen(notify, Effect.sync(early.notify)),
    )
  }
  const announce = announceAs("due")
  const takers = new Set<Taker>()
  const worker = WorkerSession.make(database, (name) => {
    for (const { dropped } of takers) dropped(name)
  })

  const client = mayListen ? yield* listeningClient : undefined
  const sender = crypto.randomUUID()
  const payload = `${database.schema} ${sender}`
  const within = new NoticeTime(performance.now())

  const begin = Effect.map(
    database.inTransaction,
    (isInTransaction) => !isInTransaction && client !== undefined && within.begin(performance.now()),
  )
  const announcing: CommitsService["announcing"] = (statement, newsOf) =>
    Effect.acquireUseRelease(
      begin,
      (mayNotify) =>
        Effect.tap(statement(mayNotify ? payload : null), (result) =>
          mayNotify ? Effect.sync(() => notifyHere(newsOf(result))) : announceAs(newsOf(result)),
        ),
      (mayNotify) => (mayNotify ? Effect.sync(() => within.end(performance.now())) : Effect.void),
    )

  const [subscribe, subscribeDue] = [all.subscribe, due.subscribe]
  const handed: CommitsService["handed"] = (taker) =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => takers.add(taker)),
        () => Effect.sync(() => takers.delete(taker)),
      ),
    )
  if (client === undefined)
    return Commits.of({ announce, announcing, handed, subscribe, subscribeDue, worker })

  yield* Effect.forkScoped(broadcast(client, yield* own.subscribe, payload))
  const listening = listen(client, worker, (received) => {
    const notice = Notices.read(database.schema, received)
    if (notice === undefined) return
    if (notice.worker === worker.name()) for (const { take } of takers) take(notice.handed)
    if (notice.sender === sender) return
    notifyHere(notice.news)
    // Others in the same 5 milliseconds sent none, and may commit later.
    if (notice.sender === Notices.IN_TRANSACTION) early.notify()
  })
  // Listening needs a connection of its own, so it lasts only while there are subscribers. The next one
  // begins when the last one has ended, and the worker has its new name.
  const oneAtATime = Semaphore.makeUnsafe(1)
  const listener = yield* RcRef.make({
    acquire: Effect.forkScoped(oneAtATime.withPermit(listening)),
  })
  return Commits.of({
    announce,
    announcing,
    handed,
    subscribe: Effect.andThen(RcRef.get(listener), subscribe),
    subscribeDue: Effect.andThen(RcRef.get(listener), subscribeDue),
    worker,
  })
})

/** Repeats early signals, in growing pauses. Another early signal begins anew. */
const echo = (early: Signal.Awaiting, notify: () => void): Effect.Effect<never> => {
  const repeats = Effect.forEach(
    ECHO_MILLIS,
    (millis) => Effect.tap(waited(millis), () => Effect.sync(notify)),
    {
      discard: true,
    },
  )
  const series: Effect.Effect<void> = Effect.flatMap(
    Effect.raceFirst(Effect.as(repeats, true), Effect.as(early, false)),
    (isDone) => (isDone ? Effect.void : series),
  )
  return Effect.forever(Effect.andThen(early, series))
}

/**
 * The client, if it can listen. It has to be a client of ours that is connected directly to the server. A host's
 * pool, or a proxy that lends connections for one transaction at a time, has no session to listen in.
 */
const listeningClient = Effect.map(
  Effect.all([SqlClient.SqlClient, Effect.serviceOption(PgClient.PgClient)]),
  ([sql, client]) => (Option.isSome(client) && isListening(client.value, sql) ? client.value : undefined),
)

const isListening = (client: PgClient.PgClient, sql: SqlClient.SqlClient): boolean =>
  (client as SqlClient.SqlClient) === sql && client.config.prepare !== false

/**
 * Notifies other processes of commits in this one. The first is sent at once; commits soon after it share one
 * message.
 */
const broadcast = (client: PgClient.PgClient, committed: Signal.Awaiting, payload: string) =>
  committed.pipe(
    Effect.andThen(
      answeredWithin(
        client.notify(Notices.CHANNEL, payload),
        NOTIFY_DEADLINE_MILLIS,
        () => new Error("too late"),
      ),
    ),
    Effect.ignoreCause,
    Effect.andThen(waited(NOTIFY_INTERVAL_MILLIS)),
    Effect.forever,
  )

/** Receives the notifications of other processes. Reconnects whenever its connection is lost. */
const listen = (
  client: PgClient.PgClient,
  worker: WorkerSession.Worker,
  onNotification: (payload: string) => void,
) =>
  Effect.suspend(() => {
    let pause = RECONNECT_MILLIS
    const once = Effect.scoped(
      Effect.gen(function* () {
        // This scope closes after the connection. So the server is not asked to stop notifying, which it may never
        // answer.
        const listening = yield* Effect.acquireRelease(Scope.make(), Scope.close)
        // Pinned, because other statements would wait until listening ends.
        const connection = yield* Effect.flatMap(PgConnection.make(client.config), ({ pin }) => pin)
        yield* worker.begin(connection)
        const notifications = yield* Scope.provide(connection.listen(Notices.CHANNEL), listening)
        pause = RECONNECT_MILLIS
        return yield* Effect.forever(
          Effect.map(Queue.take(notifications), ({ payload }) => onNotification(payload)),
        )
      }),
    )
    return once.pipe(
      Effect.ignoreCause,
      Effect.andThen(worker.lost),
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
