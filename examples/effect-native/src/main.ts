/** Records usage and publishes an event in one transaction, and sends the webhook to a receiver. See README.md. */
import { type Customer, Customers, Dispatcher, Endpoints, Events, Transactor, Usage } from "@billwright/core"
import { Console, Deferred, Effect, Queue } from "effect"
import { layer } from "./Layers.ts"
import * as Receiver from "./Receiver.ts"

/** Stores usage and its invoice, or neither. `check` stands for other work of the app before the commit. */
const bill = Effect.fn("bill")(function* <E>(
  customerId: Customer.CustomerId,
  invoiceId: string,
  check: Effect.Effect<void, E>,
) {
  const usage = yield* Usage
  const events = yield* Events
  const transactor = yield* Transactor
  yield* Effect.gen(function* () {
    const record = { customerId, productId: "api", quantity: 5, unit: "call", idempotencyKey: invoiceId }
    yield* usage.record(record)
    const data = { invoice_id: invoiceId, customer_id: customerId, amount: 4200, currency: "EUR" }
    yield* events.publish({ type: "invoice.paid", data, customerId, idempotencyKey: invoiceId })
    yield* check
  }).pipe(transactor.atomically)
})

/** Creates the endpoint of the receiver. It is deleted at the end, because a database still exists after the program. */
const connect = Effect.fn("connect")(function* (receiver: Effect.Success<typeof Receiver.start>) {
  const endpoints = yield* Endpoints
  const { secret } = yield* Effect.acquireRelease(
    endpoints.create({ url: receiver.url, eventTypes: ["invoice.paid"] }),
    ({ endpoint }) => Effect.orDie(endpoints.delete(endpoint.id)),
  )
  if (secret !== undefined) yield* Deferred.succeed(receiver.secret, secret)
})

const program = Effect.gen(function* () {
  const customers = yield* Customers
  const usage = yield* Usage
  const dispatcher = yield* Dispatcher
  const receiver = yield* Receiver.start
  yield* connect(receiver)

  const { id } = yield* customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
  yield* bill(id, `in_${id}_1`, Effect.void)
  const refused = yield* Effect.flip(bill(id, `in_${id}_2`, Effect.fail("the card was declined" as const)))
  yield* Console.log(`rolled back: ${String(refused)}`)

  yield* Console.log(`deliveries: ${yield* dispatcher.runDue}`)
  for (const event of yield* Queue.takeAll(receiver.received))
    yield* Console.log(`received ${event.type} ${JSON.stringify(event.data)}`)
  const { recordCount, totalQuantity, unit } = yield* usage.summary({ customerId: id })
  yield* Console.log(`usage: ${totalQuantity} ${unit} in ${recordCount} record`)
})

await program.pipe(Effect.scoped, Effect.provide(layer), Effect.runPromise)
