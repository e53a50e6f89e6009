/**
 * Offers places of this process's dispatchers to publications of other processes, and gives them what was leased: see
 * docs/decisions/0059.
 *
 * A publication that leases deliveries notifies of them in its own commit. This process then reads them, which is no transaction
 * that has to be flushed to the disk, as a claim is.
 */
import {
  type Claimed,
  type DeliveryStore,
  type Intake,
  MAX_CLAIM,
  OutageLog,
  Signal,
  type StandingOffer,
} from "@billwright/core"
import { Cause, DateTime, Effect, type Scope, Semaphore } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { CommitsService } from "../Commits.ts"
import type { DatabaseService } from "../Database.ts"
import { answeredWithin, waited } from "../Deadline.ts"
import type { Intakes } from "../Intakes.ts"
import type { Handed } from "../Notices.ts"
import { decoding, instant, json, type Row } from "../Row.ts"
import { OFFERED_MILLIS } from "../WorkerSession.ts"
import * as ClaimedRow from "./ClaimedRow.ts"
import * as LeaseToken from "./LeaseToken.ts"

/** The pause between two offers, in milliseconds: less than a second, for which each is good at least. */
const OFFER_EVERY_MILLIS = 750
/** How long a publication may take that follows an offer, in milliseconds: longer than a statement that anybody waits for. */
const UNDER_WAY_MILLIS = 10_000
/** Most deliveries that wait to be read. The leases of others end by themselves. */
const MAX_WAITING = 10_000
/** For how long it is tried to read a delivery, in milliseconds: as long as its lease mostly is. */
const READ_FOR_MILLIS = 30_000
/** The pause after a read that failed, in milliseconds. */
const AGAIN_MILLIS = 100
/** The pause between two looks for leases of which no notification came, in milliseconds. */
const LOOK_AGAIN_MILLIS = 20
/** How long these are looked for when a session was lost, in milliseconds. */
const LOOKED_FOR_MILLIS = 30_000
/** How long all of that may take when a dispatcher stops, in milliseconds. */
const LAST_LOOK_MILLIS = 2_000
/** Most leases that are remembered, so that none is given twice. */
const MAX_GIVEN = 50_000

const OPERATION = "DeliveryStore.handTo"

/** A dispatcher of this process. */
interface Offering {
  readonly intake: Intake
  /** Whether others may see its last offer until it is over. */
  isOpen: boolean
  /** When it last offered places, by `performance.now`. */
  offeredAt: number
  /** Asks it again what it offers. */
  readonly asked: Signal.Signal
}

/** What gives deliveries back that no dispatcher takes. */
type Queue = Pick<DeliveryStore["Service"], "settle">

type HandTo = DeliveryStore["Service"]["handTo"]

/** Reads and gives in the background until the scope closes. */
export const make: (
  database: DatabaseService,
  commits: CommitsService,
  intakes: Intakes["Service"],
  queue: Queue,
) => Effect.Effect<HandTo, never, Scope.Scope> = Effect.fnUntraced(function* (
  { everyTenant, schema },
  { handed: subscribe, worker },
  { add },
  { settle },
) {
  const reading = `select ${ClaimedRow.columns}, leased_until
from ${schema}.handed_deliveries($1::text::text[], $2::text::uuid[], $3::text::tid[])`
  const looking = `select ${schema}.left_deliveries($1::text)::text as deliveries`
  const scope = yield* Effect.scope
  const endpointOf = ClaimedRow.readingOnce()
  const offerings = new Set<Offering>()
  /** `until`: how long it is tried to read each, by `performance.now`. */
  const waiting: Array<Handed & { readonly until: number }> = []
  /** The UUIDs of leases that were given to dispatchers, or back, the oldest first. */
  const given = new Set<string>()
  /** How many reads are being given back. */
  let givingBack = 0
  /** When the worker last offered places, by `performance.now`, by its name at that time. */
  let lastOffer = { name: "", at: -Infinity }
  const news = Signal.make()
  const outage = OutageLog.make("deliveries that other processes leased to this one can be read again")

  const announce = (handed: ReadonlyArray<Handed>): void => {
    const until = performance.now() + READ_FOR_MILLIS
    for (const one of handed) if (waiting.length < MAX_WAITING) waiting.push({ ...one, until })
    news.notify()
  }

  /** Those that were not given before. From now on they are. A notification comes twice when somebody else has sent it again. */
  const neverGiven = <A extends { readonly token: string }>(leased: ReadonlyArray<A>): ReadonlyArray<A> => {
    const found = leased.filter(({ token }) => {
      const uuid = LeaseToken.uuidOf(token)
      if (given.has(uuid)) return false
      given.add(uuid)
      return true
    })
    for (const uuid of given) {
      if (given.size <= MAX_GIVEN) break
      given.delete(uuid)
    }
    return found
  }

  const giveBack = Effect.fnUntraced(function* ({ deliveries, unreadable }: Claimed) {
    const at = yield* DateTime.now
    yield* settle(
      [...deliveries, ...unreadable].map(({ attemptCount, id, tenant, token }) => ({
        tenant,
        id,
        endpointId: undefined,
        token,
        at,
        state: { status: "Pending", attemptCount, dueAt: at.epochMilliseconds },
        attempt: undefined,
      })),
    )
  })

  /** Gives deliveries to a dispatcher, if one takes them: first to the one that has offered last. */
  const give = (leased: Claimed, leaseUntil: DateTime.Utc) => {
    for (const { intake } of [...offerings].sort(byOffer)) {
      if (!intake.takeFromOthers(leased, leaseUntil)) continue
      for (const { asked } of offerings) asked.notify() // they may have no more places to offer
      return Effect.void
    }
    // Beside the reads, because somebody may have locked a row. If it fails, the leases end by themselves.
    givingBack++
    const ended = Effect.sync(() => {
      givingBack--
    })
    return Effect.forkIn(Effect.ensuring(Effect.ignoreCause(giveBack(leased)), ended), scope)
  }

  const readAndGive = Effect.fnUntraced(function* (handed: ReadonlyArray<Handed>) {
    const rows = yield* everyTenant.read(OPERATION, (sql) =>
      sql.unsafe<Row>(reading, [
        ArrayLiteral.plain(handed.map((one) => one.worker)),
        ArrayLiteral.plain(handed.map(({ id }) => id)),
        ArrayLiteral.quoted(handed.map(({ place }) => place)),
      ]),
    )
    if (rows.length === 0) return
    const read = yield* decoding(OPERATION, (all: ReadonlyArray<Row>) => ({
      ...ClaimedRow.claimedFromRows(all, endpointOf),
      leaseUntil: all.map((row) => instant(row, "leased_until")).reduce(DateTime.min),
    }))(rows)
    const leased = { deliveries: neverGiven(read.deliveries), unreadable: neverGiven(read.unreadable) }
    if (leased.deliveries.length + leased.unreadable.length > 0) yield* give(leased, read.leaseUntil)
  })

  const round = Effect.suspend(() => {
    const some = waiting.slice(0, MAX_CLAIM)
    return Effect.matchCauseEffect(readAndGive(some), {
      onSuccess: () => {
        waiting.splice(0, some.length)
        return outage.worked
      },
      onFailure: (cause) => {
        const now = performance.now()
        while (waiting[0] !== undefined && waiting[0].until <= now) waiting.shift()
        const what =
          "deliveries that other processes leased to this one can't be read; their leases end by themselves"
        return Effect.andThen(outage.failed(what, Cause.squash(cause)), waited(AGAIN_MILLIS))
      },
    })
  })
  const all: Effect.Effect<void> = Effect.suspend(() =>
    waiting.length === 0 ? Effect.void : Effect.andThen(round, all),
  )

  /** Has all deliveries read that were leased to a worker, also those of which no notification came. */
  const look = (name: string): Effect.Effect<void> =>
    Effect.matchCauseEffect(
      everyTenant.read(OPERATION, (sql) => sql.unsafe<Row>(looking, [name])),
      {
        onFailure: () => Effect.andThen(waited(AGAIN_MILLIS), look(name)),
        onSuccess: ([row]) => {
          const found = json(row ?? {}, "deliveries") as ReadonlyArray<[string, string]> | null
          // A publication is under way that may still lease some.
          if (found === null) return Effect.andThen(waited(LOOK_AGAIN_MILLIS), look(name))
          return Effect.sync(() => announce(found.map(([id, place]) => ({ worker: name, id, place }))))
        },
      },
    )
  const within = (effect: Effect.Effect<void>, millis: number) =>
    Effect.ignore(answeredWithin(effect, millis, () => new Error("too late")))

  const dropped: Array<string> = []
  const hasDropped = Signal.make()
  const lookForDropped: Effect.Effect<void> = Effect.suspend(() => {
    const name = dropped.shift()
    return name === undefined
      ? Effect.void
      : Effect.andThen(within(look(name), LOOKED_FOR_MILLIS), lookForDropped)
  })
  yield* subscribe({
    take: announce,
    dropped: (name) => {
      if (lastOffer.name !== name || !mayBeFollowed(lastOffer.at)) return
      dropped.push(name)
      hasDropped.notify()
    },
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(yield* news.subscribe, all)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(yield* hasDropped.subscribe, lookForDropped)))

  const oneAtATime = Semaphore.makeUnsafe(1)
  const offerThat = (offering: Offering, offer: StandingOffer | undefined) =>
    oneAtATime.withPermit(
      Effect.suspend(() => {
        if (!worker.mayOffer() || (offer === undefined && !offering.isOpen)) return Effect.void
        if (offer !== undefined) {
          offering.isOpen = true
          offering.offeredAt = performance.now()
          lastOffer = { name: worker.name(), at: offering.offeredAt }
        }
        return Effect.map(worker.offer(offer), (isWritten) => {
          if (offer === undefined && isWritten) offering.isOpen = false
        })
      }),
    )

  /** Renews the offer of a dispatcher, or ends it. */
  const renew = (offering: Offering) =>
    Effect.flatMap(offering.intake.standingOffer, (offer) => offerThat(offering, offer))

  /** Ends the offer of a dispatcher that has no more places. */
  const endIfCrowded = (offering: Offering) =>
    Effect.flatMap(offering.intake.standingOffer, (offer) =>
      offer === undefined ? offerThat(offering, undefined) : Effect.void,
    )

  /** Waits until everything was read, and given. */
  const settled: Effect.Effect<void> = Effect.suspend(() =>
    waiting.length + givingBack === 0 ? Effect.void : Effect.andThen(waited(LOOK_AGAIN_MILLIS), settled),
  )

  /** Ends the offer of a dispatcher that stops. What was leased by then is given to another one, or back. */
  const endAtLast = Effect.fnUntraced(function* (offering: Offering) {
    if (!mayBeFollowed(offering.offeredAt)) return
    const { name } = lastOffer
    // When its session is lost, it has another name, and its locks are free.
    while (worker.name() === name && !(yield* worker.withdraw)) yield* waited(LOOK_AGAIN_MILLIS)
    yield* look(name)
    yield* settled
  })

  return Effect.fnUntraced(function* (intake: Intake) {
    const offering: Offering = { intake, isOpen: false, offeredAt: -Infinity, asked: Signal.make() }
    const asked = yield* offering.asked.subscribe
    yield* Effect.acquireRelease(
      Effect.sync(() => offerings.add(offering)),
      () => Effect.sync(() => offerings.delete(offering)),
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(waited(OFFER_EVERY_MILLIS), renew(offering))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(asked, endIfCrowded(offering))))
    yield* Effect.addFinalizer(() => within(endAtLast(offering), LAST_LOOK_MILLIS))
    yield* add(intake)
  })
})

/** Whether a publication may be under way that follows an offer of this time. */
const mayBeFollowed = (offeredAt: number): boolean =>
  performance.now() - offeredAt < OFFERED_MILLIS + UNDER_WAY_MILLIS

const byOffer = (a: Offering, b: Offering): number =>
  Number(b.isOpen) - Number(a.isOpen) || b.offeredAt - a.offeredAt
