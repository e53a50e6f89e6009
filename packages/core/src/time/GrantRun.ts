/**
 * What a runner does on paid credits that begin or end: it writes that, with the instant at which it happened. So the books of a
 * day are complete soon after it, also of customers who do nothing any more.
 */
import { grantAt, settleCredits } from "@billwright/engine"
import { Clock, Effect, Layer, Option } from "effect"
import type { CreditGrantId, StoredGrant } from "../credits/Credit.ts"
import { makeCreditBook } from "../credits/CreditBook.ts"
import { GrantQueue, nextLookAt } from "../credits/GrantQueue.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

type Run<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

const queueOf = (port: Effect.Effect<DueStore["Service"], InvoicingUnsupported>) => ({
  lookAt: (id: CreditGrantId, at: number | null) =>
    Effect.flatMap(Effect.orDie(port), (due) => due.schedule({ kind: "credit_grant", id }, at)),
})

/** Makes the work on a grant that a runner has claimed. */
export const makeGrantRun = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const credits = yield* makeCreditBook
  const { lookAt } = queueOf(duePort)
  const { atomically } = yield* Transactor

  const find = Effect.fnUntraced(function* (id: CreditGrantId) {
    return Option.getOrUndefined(yield* (yield* credits.port).findGrant(id))
  })

  /** When a grant is to be looked at again. Of one without anything available nobody has written that it ended. */
  const nextOf = Effect.fnUntraced(function* (id: CreditGrantId, now: number) {
    const grant = yield* find(id)
    return grant === undefined ? null : nextLookAt(grantAt(grant, now), now)
  })

  const visit = Effect.fnUntraced(function* (claimed: ClaimedSubject, { customerId, id, unit }: StoredGrant) {
    const key = { customerId, unit }
    const now = yield* Clock.currentTimeMillis
    // The account comes before the queue, as for everybody who changes credits.
    const ledger = yield* (yield* credits.port).lock(key, now, "open")
    if (!(yield* (yield* duePort).holds(claimed))) return
    const change = settleCredits(ledger, now)
    if (change.entries.length > 0) yield* credits.write(key, ledger, change)
    // The queue is in real time. Under a test clock, it is written with the next change of the account.
    const isTimed = yield* WallClock.isReal
    yield* lookAt(id, isTimed ? yield* nextOf(id, now) : null)
  })

  return (claimed: ClaimedSubject, id: CreditGrantId): Run<void> =>
    atomically(
      Effect.gen(function* () {
        const grant = yield* find(id)
        if (grant === undefined) return yield* lookAt(id, null)
        yield* credits.within(grant, visit(claimed, grant))
      }),
    )
})

/** Has paid credits looked at by billing runs when they begin and end. */
export const layer = Layer.effect(GrantQueue, Effect.map(optionalPort(DueStore), queueOf))
