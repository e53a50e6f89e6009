/**
 * The credits of a customer who is erased: all of them are taken back, and automatic top-ups are deleted. What open holds keep
 * stays held until they are settled, and is gone then.
 */
import { closeAccount } from "@billwright/engine"
import { Clock, Effect, Layer, Option } from "effect"
import { CustomerErasure, type OnErase } from "../customers/CustomerErasure.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Collections } from "../shared/Collections.ts"
import { autoTopUps, MAX_AUTO_TOP_UPS } from "./AutoTopUp.ts"
import { type CreditBook, makeCreditBook } from "./CreditBook.ts"
import type { CreditStore } from "./CreditStore.ts"

/** Most accounts that are read at once. A customer has one for each unit. */
const MAX_UNITS = 100

/** Takes back all credits. Then the transaction holds all accounts of the customer. */
const closeAccounts = (store: CreditStore["Service"], book: CreditBook): OnErase =>
  Effect.fnUntraced(function* (customerId) {
    let last: string | undefined
    for (;;) {
      const units = yield* store.unitsOf(customerId, last, MAX_UNITS)
      for (const unit of units) {
        const key = { customerId, unit }
        const now = yield* Clock.currentTimeMillis
        const ledger = yield* store.lock(key, now, "existing")
        yield* Effect.catchTag(
          book.write(key, ledger, closeAccount(ledger, now)),
          "InvoicingUnsupported",
          Effect.die,
        )
      }
      last = units.at(-1)
      if (units.length < MAX_UNITS) return
    }
  })

/** Deletes the automatic top-ups. Call it while their accounts are held. A billing run finds them gone, and takes them out of its queue. */
const deleteTopUps = (collections: Collections["Service"]): OnErase => {
  const autos = collections.of(autoTopUps)
  return (customerId) =>
    autos.list({ customerId }, { limit: MAX_AUTO_TOP_UPS, cursor: undefined }).pipe(
      Effect.catchTag("CursorNotFound", Effect.die),
      Effect.flatMap(({ data }) => Effect.forEach(data, ({ id }) => autos.remove(id), { discard: true })),
    )
}

/** Takes back the credits of a customer who is erased, after what else is done then. A storage without credits has none. */
export const layer = Layer.effect(
  CustomerErasure,
  Effect.gen(function* () {
    const others = yield* CustomerErasure
    const collections = yield* Collections
    const time = new CustomerTime(collections)
    const book = yield* makeCreditBook
    const store = yield* Effect.option(book.port)
    if (Option.isNone(store)) return others
    const close = closeAccounts(store.value, book)
    const deleteAutos = deleteTopUps(collections)
    const erase: OnErase = (customerId) => Effect.andThen(close(customerId), deleteAutos(customerId))
    return (customerId) => Effect.andThen(others(customerId), time.within(customerId, erase(customerId)))
  }),
)
