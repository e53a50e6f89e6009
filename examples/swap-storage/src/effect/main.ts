/** The same as `../main.ts`, with layers. */
import { Billing, CurrentTenant, Customers, Events, Tenant, Transactor, Usage } from "@billwright/core"
import { Console, Effect, Layer } from "effect"
import { storage } from "./memory.ts" // the line to change

const program = Effect.gen(function* () {
  const usage = yield* Usage
  const events = yield* Events
  const { atomically } = yield* Transactor
  const { id: customerId } = yield* (yield* Customers).create({
    name: "Ada Lovelace",
    email: "ada@example.com",
  })

  /** Stores usage and its invoice, or neither. */
  const bill = (invoiceId: string, quantity: number) =>
    Effect.gen(function* () {
      const idempotencyKey = `${customerId}-${invoiceId}`
      yield* usage.record({ customerId, productId: "api", quantity, unit: "call", idempotencyKey })
      const data = { invoice_id: invoiceId, customer_id: customerId, amount: 4200, currency: "EUR" }
      yield* events.publish({ type: "invoice.paid", data, customerId, idempotencyKey })
    }).pipe(atomically)

  yield* bill("in_1", 5)
  yield* bill("in_1", 5) // a retry counts once
  yield* bill("in_2", Number.MAX_SAFE_INTEGER)
  const conflict = yield* Effect.flip(bill("in_2", 1))
  yield* Console.log(`refused: ${conflict._tag}`)

  const { recordCount, totalQuantity, unit } = yield* usage.summary({ customerId })
  yield* Console.log(`usage: ${totalQuantity} ${unit} in ${recordCount} records`)
})

await program.pipe(
  Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "live" }),
  Effect.provide(Billing.layer.pipe(Layer.provideMerge(storage))),
  Effect.runPromise,
)
