/**
 * Offers places of this process's dispatchers to publications of other processes, and gives them what was leased: see
 * docs/decisions/0059.
 *
 * A publication that leases deliveries notifies of them in its own commit. This process then reads them (`HandedDeliveries`),
 * which is no transaction that has to be flushed to the disk, as a claim is. After an offer has ended, it looks for those of which
 * no notification came (`LeftDeliveries`).
 */
import { type DeliveryStore, type Intake, Signal, type StandingOffer } from "@billwright/core"
import { Effect, type Scope, Semaphore } from "effect"
import type { CommitsService } from "../Commits.ts"
import type { DatabaseService } from "../Database.ts"
import { waited } from "../Deadline.ts"
import type { Intakes } from "../Intakes.ts"
import { OFFERED_MILLIS } from "../WorkerSession.ts"
import * as HandedDeliveries from "./HandedDeliveries.ts"
import * as LeftDeliveries from "./LeftDeliveries.ts"

/** The pause between two offers, in milliseconds: less than a second, for which each is good at least. */
const OFFER_EVERY_MILLIS = 750
/** How long a publication may take that follows an offer, in milliseconds: longer than a statement that anybody waits for. */
const UNDER_WAY_MILLIS = 10_000
/** The pause before it is tried again to end an offer, in milliseconds. */
const AGAIN_MILLIS = 20
/** How long all of that may take when a dispatcher stops, in milliseconds. */
const LAST_LOOK_MILLIS = 2_000

/** A dispatcher of this process. */
interface Offering {
  readonly intake: Intake
  /** Whether others may see its last offer until it is over. */
  isOpen: boolean
  /** When it last offered places, by `performance.now`. */
  offeredAt: number
  /** It offers nothing any more, also when it asked to a moment ago. */
  isStopping: boolean
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
  database,
  { handed: subscribe, worker },
  { add },
  { settle },
) {
  const offerings = new Set<Offering>()
  /** When the worker last offered places, by `performance.now`, by its name at that time. */
  let lastOffer = { name: "", at: -Infinity }

  /** First by the one that has offered last. */
  const take: HandedDeliveries.Takers["take"] = (leased, leaseUntil) => {
    for (const { intake } of [...offerings].sort(byOffer)) {
      if (!intake.takeFromOthers(leased, leaseUntil)) continue
      for (const { asked } of offerings) asked.notify() // they may have no more places to offer
      return true
    }
    return false
  }
  const { announce, settled } = yield* HandedDeliveries.make(database, { take, settle })
  const { look, lookApart } = yield* LeftDeliveries.make(database, announce)
  yield* subscribe({
    take: announce,
    dropped: (name) => {
      if (lastOffer.name === name && mayBeFollowed(lastOffer.at)) lookApart(name)
    },
  })

  const oneAtATime = Semaphore.makeUnsafe(1)
  const offerThat = (offering: Offering, offer: StandingOffer | undefined) =>
    oneAtATime.withPermit(
      Effect.suspend(() => {
        const isNothing = offer === undefined ? !offering.isOpen : offering.isStopping
        if (!worker.mayOffer() || isNothing) return Effect.void
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

  /** Ends the offer of a dispatcher that stops. What was leased by then is given to another one, or back. */
  const endAtLast = Effect.fnUntraced(function* (offering: Offering) {
    offering.isStopping = true
    if (!mayBeFollowed(offering.offeredAt)) return
    const { name } = lastOffer
    // When its session is lost, it has another name, and its locks are free.
    while (worker.name() === name && !(yield* worker.withdraw)) yield* waited(AGAIN_MILLIS)
    yield* look(name)
    yield* settled
  })

  const late = Effect.suspend(() =>
    // Another dispatcher goes on and takes them.
    offerings.size > 1
      ? Effect.void
      : Effect.logWarning(
          "a dispatcher stopped before everything was looked for that other processes leased to it; deliveries that they leased in the last moment may go on only when their leases end",
        ),
  )

  return Effect.fnUntraced(function* (intake: Intake) {
    const offering: Offering = {
      intake,
      isOpen: false,
      offeredAt: -Infinity,
      isStopping: false,
      asked: Signal.make(),
    }
    const asked = yield* offering.asked.subscribe
    yield* Effect.acquireRelease(
      Effect.sync(() => offerings.add(offering)),
      () => Effect.sync(() => offerings.delete(offering)),
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(waited(OFFER_EVERY_MILLIS), renew(offering))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(asked, endIfCrowded(offering))))
    yield* Effect.addFinalizer(() => LeftDeliveries.within(endAtLast(offering), LAST_LOOK_MILLIS, late))
    yield* add(intake)
  })
})

/** Whether a publication may be under way that follows an offer of this time. */
const mayBeFollowed = (offeredAt: number): boolean =>
  performance.now() - offeredAt < OFFERED_MILLIS + UNDER_WAY_MILLIS

const byOffer = (a: Offering, b: Offering): number =>
  Number(b.isOpen) - Number(a.isOpen) || b.offeredAt - a.offeredAt
