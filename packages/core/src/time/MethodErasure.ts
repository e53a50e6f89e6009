/**
 * What becomes of the payment methods of a customer who is erased: they are detached, and a billing run has the payment
 * provider forget them, and the customer.
 */
import { DateTime, Effect, Layer } from "effect"
import { CustomerErasure } from "../customers/CustomerErasure.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeMethodBook } from "../payments/MethodBook.ts"
import { Collections } from "../shared/Collections.ts"
import { DueStore } from "./DueStore.ts"

export const layer = Layer.effect(
  CustomerErasure,
  Effect.gen(function* () {
    const book = yield* makeMethodBook
    const duePort = yield* optionalPort(DueStore)
    const time = new CustomerTime(yield* Collections)

    return (customerId) =>
      time.within(
        customerId,
        Effect.gen(function* () {
          /** How the provider names the customer, by the methods that are visited. */
          const known = new Set<string | null>([null])
          for (const status of ["attached", "pending", "detached", "failed"] as const) {
            const { data } = yield* book.ofCustomer(customerId, status)
            const isOver = status === "detached" || status === "failed"
            for (const { id, providerCustomer } of data) {
              // The provider has forgotten those that are over: they are visited for the customer's sake alone.
              if (isOver && known.has(providerCustomer)) continue
              known.add(providerCustomer)
              if (!isOver) yield* book.detach(id)
              const { epochMilliseconds: now } = yield* DateTime.now
              yield* Effect.flatMap(Effect.orDie(duePort), (due) =>
                due.schedule({ kind: "payment_method", id }, now),
              )
            }
          }
        }),
      )
  }),
)
