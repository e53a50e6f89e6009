/**
 * Shows other processes that this one lives, so that they take its leases over soon after it died.
 *
 * A worker is named by the first characters of its leases' tokens. Its session holds an advisory lock. Postgres frees
 * the lock as soon as the session ends, which a killed process can't prevent. Then `watch_workers` of another process
 * notes it, and claims take the dead worker's leases for ended.
 *
 * A worker without such a session is not in the table of workers. Its leases end when they end. That is so behind a
 * proxy that lends connections for one transaction at a time, and on a host's pool.
 */
import { Id, type StandingOffer, type StorageError } from "@billwright/core"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Option, type Scope, Semaphore } from "effect"
import * as ArrayLiteral from "./ArrayLiteral.ts"
import type { DatabaseService } from "./Database.ts"
import { answeredWithin, waited } from "./Deadline.ts"
import { lockOf, WORKER_LENGTH } from "./functions/WorkerFunctions.ts"

/** The pause before the removal of a worker is tried again, in milliseconds. */
const AGAIN_MILLIS = 200
/** How long publications of other processes may follow an offer at most, in milliseconds: see `renew_offer`. */
export const OFFERED_MILLIS = 2_000
/** How long an offer may take to be written, in milliseconds. */
const OFFER_DEADLINE_MILLIS = 1_000
/** How long the removal of a worker may take when its session is closed in order, in milliseconds. */
const LEAVE_MILLIS = 1_000

export interface Worker {
  /** A new token for the leases of one claim. */
  readonly token: () => string
  /** The worker in SQL: the start of its tokens. */
  readonly name: () => string
  /**
   * Takes a lock in a session that was just opened, and then enters the worker in the table. Leases that it had before
   * are watched from then on. A user who may not write the table is not entered.
   *
   * When the scope is interrupted, the session is closed in order, and the worker may go on without one. So it removes
   * itself first. It tries once, for a second at most: nobody waits for a server that does not answer. Then it takes a
   * new name.
   */
  readonly begin: (session: PgConnection.PgConnection) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Removes the worker from the table after its session was lost, until it is removed. Otherwise others would send
   * what this process is sending. Then it takes a new name, because the server may still hold the lock of the session
   * that was lost. It takes one also when this is interrupted.
   */
  readonly lost: Effect.Effect<void>
  /** Whether the worker is in the table, and so may offer places. */
  readonly mayOffer: () => boolean
  /**
   * Offers places to publications of other processes, or ends the last offer. Gives false when it may not have done so. It goes
   * through the session, so that nobody is offered places when notifications don't arrive any more.
   */
  readonly offer: (offer: StandingOffer | undefined) => Effect.Effect<boolean>
  /** Ends the last offer, and says in the row of the worker that it has no places, so that no publication tries its locks. */
  readonly withdraw: Effect.Effect<boolean>
}

const newName = (): string => crypto.randomUUID().slice(0, WORKER_LENGTH)

/** A session that may offer places. `described`: what its row says. `held`: the seconds whose locks it holds, if that is known. */
interface OfferingSession {
  readonly session: PgConnection.PgConnection
  described: string | undefined
  held: string | null
}

/** What the row of a worker says that stops. */
const NO_PLACES: StandingOffer = { count: 0, full: [], leaseMillis: 0 }

/** `onDropped` is called with each name that the worker has no more. */
export const make = (
  { everyTenant: { write }, schema }: DatabaseService,
  onDropped: (name: string) => void,
): Worker => {
  const table = `${schema}.webhook_workers`
  const enter = `insert into ${table} (worker) select $1
where pg_try_advisory_lock(${lockOf(schema, "$1::text")}) on conflict do nothing`
  const leaving = `delete from ${table} where worker = $1`
  const describing = `update ${table} w set offered_places = $2::text::integer, lease_millis = $3::text::integer,
  full_endpoints = $4::text::uuid[]
where w.worker = $1`
  const renewing = `select ${schema}.renew_offer($1, $2::text::bigint[], $3::text::boolean)::text as held`
  let name = newName()
  let current: OfferingSession | undefined
  const oneAtATime = Semaphore.makeUnsafe(1)

  const rename = Effect.sync(() => {
    const dropped = name
    current = undefined
    name = newName()
    onDropped(dropped)
  })

  const leave = (session: PgConnection.PgConnection) =>
    Effect.suspend(() =>
      answeredWithin(
        Effect.interruptible(session.query(leaving, [name])),
        LEAVE_MILLIS,
        () => new Error("too late"),
      ),
    ).pipe(Effect.ignore, Effect.andThen(rename))

  const begin = Effect.fnUntraced(function* (session: PgConnection.PgConnection) {
    yield* Effect.addFinalizer((exit) => (Exit.hasInterrupts(exit) ? leave(session) : Effect.void))
    const entered = yield* Effect.option(session.query(enter, [name]))
    if (Option.exists(entered, ({ rowCount }) => rowCount > 0)) {
      current = { session, described: undefined, held: "{}" }
    }
  })

  const remove = Effect.suspend((): Effect.Effect<unknown, StorageError> =>
    write("DeliveryStore.claimDue", (sql) => sql.unsafe(leaving, [name])),
  )
  const removed: Effect.Effect<void> = Effect.matchEffect(remove, {
    onSuccess: () => Effect.void,
    onFailure: () => Effect.andThen(waited(AGAIN_MILLIS), removed),
  })
  const lost = Effect.ensuring(removed, rename)

  /** Writes what is offered, if that has changed. */
  const describe = (its: OfferingSession, { count, full, leaseMillis }: StandingOffer) =>
    Effect.suspend(() => {
      const endpoints = ArrayLiteral.plain(full.map((id) => Id.toUuid(id)))
      const parameters = [String(count), String(leaseMillis), endpoints]
      const described = parameters.join(" ")
      if (its.described === described) return Effect.void
      its.described = undefined
      return Effect.map(its.session.query(describing, [name, ...parameters]), () => {
        its.described = described
      })
    })

  const renew = (its: OfferingSession, isOpen: boolean) =>
    Effect.suspend(() => {
      const { held } = its
      its.held = null
      return Effect.map(its.session.query(renewing, [name, held, String(isOpen)]), ({ rows }) => {
        its.held = String(rows[0]?.["held"])
      })
    })

  /** Runs statements in the session, one after another. Gives false when they may not have been carried out. */
  const inSession = (write: (its: OfferingSession) => Effect.Effect<void, unknown>) =>
    oneAtATime.withPermit(
      Effect.suspend(() => {
        if (current === undefined) return Effect.succeed(false)
        const inTime = answeredWithin(write(current), OFFER_DEADLINE_MILLIS, () => new Error("too late"))
        return Effect.map(Effect.exit(inTime), Exit.isSuccess)
      }),
    )
  const offer: Worker["offer"] = (offered) =>
    inSession((its) =>
      offered === undefined ? renew(its, false) : Effect.andThen(describe(its, offered), renew(its, true)),
    )
  const withdraw = inSession((its) => Effect.andThen(renew(its, false), describe(its, NO_PLACES)))

  return {
    mayOffer: () => current !== undefined,
    offer,
    withdraw,
    token: () => name + crypto.randomUUID().slice(WORKER_LENGTH),
    name: () => name,
    begin,
    lost,
  }
}
