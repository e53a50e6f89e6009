/**
 * What a runner does on automatic top-ups: it notes what has happened to the credits by the clock, and buys credits if less
 * than the level is available.
 *
 * The top-up and the draft of its invoice are stored in one transaction, which holds the account. So each crossing of the
 * level has one, with any number of runners, and when one dies at any moment.
 */
import { settleCredits } from "@billwright/engine"
import { DateTime, Effect, Layer, Option } from "effect"
import { type AutoTopUp, isShort, nextTopUp } from "../credits/AutoTopUp.ts"
import { makeCreditBook } from "../credits/CreditBook.ts"
import { liveGrants } from "../credits/LiveGrants.ts"
import type { AutoTopUpId } from "../credits/TopUp.ts"
import { makeTopUpBook } from "../credits/TopUpBook.ts"
import { TopUpQueue } from "../credits/TopUpQueue.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

type Run<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

const earlierOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

const queueOf = (port: Effect.Effect<DueStore["Service"], InvoicingUnsupported>) => ({
  lookAt: (id: AutoTopUpId, at: number | null) =>
    Effect.flatMap(Effect.orDie(port), (due) => due.schedule({ kind: "auto_top_up", id }, at)),
})

/** How long it waits for a subscription of the customer that is due. */
const RENEWAL_MILLIS = 10_000

/** Makes the work on an automatic top-up that a runner has claimed. */
export const makeTopUpRun = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const bookOf = yield* invoiceBooks
  const credits = yield* makeCreditBook
  const topUps = yield* makeTopUpBook
  const { lookAt } = queueOf(duePort)
  const { atomically } = yield* Transactor

  /** Buys if it has to. Gives when it is to be looked at again. */
  const buy = Effect.fnUntraced(function* (auto: AutoTopUp, available: bigint, now: DateTime.Utc) {
    const { id, maxPerDay } = auto
    // Most visits find enough, and need to know nothing else.
    const latest = isShort(auto, available) ? yield* topUps.latestBySelf(auto, maxPerDay) : []
    const next = nextTopUp(auto, available, latest, now)
    if (next.type === "buy") {
      const { amount, currency, customerId, price, taxCode, unit } = auto
      const purchase = { amount, currency, customerId, price, taxCode, unit }
      yield* topUps.make(bookOf(yield* invoicePort), purchase, id)
    }
    return next.type === "wait" ? next.until : null
  })

  const visit = (claimed: ClaimedSubject, known: AutoTopUp): Run<void> =>
    Effect.gen(function* () {
      const now = yield* DateTime.now
      // The account comes before the queue, as for everybody who changes credits.
      const ledger = yield* (yield* credits.port).lock(known, now.epochMilliseconds, "open")
      const due = yield* duePort
      if (!(yield* due.holds(claimed))) return
      // The queue is in real time. Under a test clock nobody comes back at an instant: it is looked at when its level is crossed,
      // when what it bought is paid, or when it is updated.
      const isTimed = yield* WallClock.isReal
      // A subscription that renews now may grant what its plan includes. That comes first.
      const others = isTimed ? yield* due.ofCustomer(known.customerId, now.epochMilliseconds) : []
      if (others.some(({ attempts, subject }) => subject.kind === "subscription" && attempts === 0)) {
        return yield* lookAt(known.id, now.epochMilliseconds + RENEWAL_MILLIS)
      }
      const change = settleCredits(ledger, now.epochMilliseconds)
      if (change.entries.length > 0) yield* credits.write(known, ledger, change)
      // Releases before this one left those of customers who were erased.
      const isThere = yield* credits.isKnown(known)
      if (!isThere) yield* topUps.autos.remove(known.id)
      const auto = isThere ? Option.getOrUndefined(yield* topUps.autos.find(known.id)) : undefined
      const again = auto === undefined ? null : yield* buy(auto, change.account.available, now)
      // As they are now: what has just rolled over ends later.
      const ends = liveGrants(ledger, now.epochMilliseconds).flatMap(({ expiresAt }) =>
        expiresAt === null || expiresAt <= now.epochMilliseconds ? [] : [expiresAt],
      )
      const nextEnd = ends.length === 0 ? null : Math.min(...ends)
      yield* lookAt(known.id, auto !== undefined && isTimed ? earlierOf(again, nextEnd) : null)
    })

  return (claimed: ClaimedSubject, id: AutoTopUpId): Run<void> =>
    atomically(
      Effect.gen(function* () {
        const known = Option.getOrUndefined(yield* topUps.autos.find(id))
        if (known === undefined) return yield* lookAt(id, null)
        yield* credits.within(known, visit(claimed, known))
      }),
    )
})

/** Has automatic top-ups looked at by billing runs. */
export const layer = Layer.effect(TopUpQueue, Effect.map(optionalPort(DueStore), queueOf))
