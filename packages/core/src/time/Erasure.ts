/**
 * What is done after a customer was erased: in the same transaction if it is little. Otherwise the rest is in the queue of billing
 * runs until it is done, whatever crashes.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { CustomerErased } from "../customers/CustomerErasure.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"
import { makeParts, type Part } from "./ErasedParts.ts"

/** Most steps in the transaction that erases a customer. Each is of 100 values at most. */
const MAX_FIRST_STEPS = 20
/**
 * Most steps of one visit of a billing run that change something. Each step has a transaction of its own. They take a small part
 * of its lease. Each visit begins again, so steps that find nothing to change don't count: a visit would end among them. They
 * only read, so that some hundred thousand values are gone through within a lease.
 */
const MAX_STEPS_OF_VISIT = 100

/** How far an erasure is. */
interface Place {
  readonly part: number
  /** Where the last step of the part ended. */
  readonly after: string | undefined
}

const START: Place = { part: 0, after: undefined }

/** Does the step at a place. Gives the next place, and `undefined` when all is done. */
const stepFrom = (parts: ReadonlyArray<Part>, id: CustomerId, { after, part }: Place) =>
  Effect.map(parts[part]!(id, after), ({ hasCleaned, last }) => {
    const isLast = last === undefined && part + 1 === parts.length
    const next: Place = last === undefined ? { part: part + 1, after: undefined } : { part, after: last }
    return { hasCleaned, next: isLast ? undefined : next }
  })

/** Does the first steps with the erasure, and queues the rest. A storage without the queue does all of them at once. */
export const layer = Layer.effect(
  CustomerErased,
  Effect.gen(function* () {
    const parts = yield* makeParts
    const due = Option.getOrUndefined(yield* Effect.serviceOption(DueStore))
    return Effect.fnUntraced(function* (id: CustomerId) {
      const most = due === undefined ? Infinity : MAX_FIRST_STEPS
      let place: Place | undefined = START
      for (let steps = 0; place !== undefined && steps < most; steps++) {
        place = (yield* stepFrom(parts, id, place)).next
      }
      if (place === undefined || due === undefined) return
      const { epochMilliseconds: now } = yield* WallClock.now
      yield* due.schedule({ kind: "erasure", id }, now)
    })
  }),
)

/** Makes the work on an erasure that a runner has claimed. */
export const makeErasureRun = Effect.gen(function* () {
  const parts = yield* makeParts
  const duePort = yield* optionalPort(DueStore)
  const { atomically } = yield* Transactor

  /**
   * Does a step, if the lease holds. The last one takes the erasure off the queue. The last one of a visit, after which no more
   * may change anything, puts it back.
   */
  const step = (claimed: ClaimedSubject, id: CustomerId, place: Place, left: number) =>
    atomically(
      Effect.gen(function* () {
        const due = yield* duePort
        if (!(yield* due.holds(claimed))) return { next: undefined, left: 0 }
        const { hasCleaned, next } = yield* stepFrom(parts, id, place)
        const rest = hasCleaned ? left - 1 : left
        const { epochMilliseconds: now } = yield* DateTime.now
        if (next === undefined) yield* due.schedule({ kind: "erasure", id }, null)
        else if (rest === 0) yield* due.schedule({ kind: "erasure", id }, now)
        return { next, left: rest }
      }),
    )

  return Effect.fnUntraced(function* (
    claimed: ClaimedSubject,
    id: CustomerId,
  ): Effect.fn.Return<void, InvoicingUnsupported | StorageError, CurrentTenant> {
    let place: Place | undefined = START
    let left = MAX_STEPS_OF_VISIT
    while (place !== undefined && left > 0) {
      const done: { readonly next: Place | undefined; readonly left: number } = yield* step(
        claimed,
        id,
        place,
        left,
      )
      place = done.next
      left = done.left
    }
  })
})
