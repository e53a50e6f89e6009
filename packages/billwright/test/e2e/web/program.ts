/** Billing without Node, for a page and a worker. It returns its results in one value. */
import {
  Billing,
  CurrentTenant,
  Customers,
  Dispatcher,
  Endpoints,
  Events,
  Tenant,
  Transactor,
  Usage,
  WebhookTransport,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { verify } from "billwright/verify"
import { Effect, Layer, Redacted } from "effect"

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const sent: Array<Sent> = []
const transport = Layer.succeed(WebhookTransport, {
  send: ({ body, headers }) =>
    Effect.sync(() => {
      sent.push({ body, headers })
      return { _tag: "Answered", status: 204, headers: {}, body: "" }
    }),
})

const program = Effect.gen(function* () {
  const usage = yield* Usage
  const { atomically } = yield* Transactor
  const { id: customerId, name } = yield* (yield* Customers).create({
    name: "Ada Lovelace",
    email: "ada@example.com",
  })
  const record = { customerId, productId: "api", unit: "call" }
  yield* usage.record({ ...record, quantity: Number.MAX_SAFE_INTEGER })
  yield* usage.record({ ...record, quantity: 5 })
  const undone = Effect.andThen(usage.record({ ...record, quantity: 1 }), Effect.fail("no"))
  yield* Effect.ignore(atomically(undone))
  const { totalQuantity } = yield* usage.summary({ customerId })

  const endpoint = { url: "https://example.com/hooks", eventTypes: ["invoice.paid"] }
  const { secret } = yield* (yield* Endpoints).create(endpoint)
  const data = { invoice_id: "in_1", customer_id: customerId, amount: 4200, currency: "EUR" }
  yield* (yield* Events).publish({ type: "invoice.paid", data })
  const deliveries = yield* (yield* Dispatcher).runDue
  const [{ body, headers }] = sent as [Sent]
  const check = (text: string) =>
    verify({ secret: Redacted.value(secret!), headers, body: text }).then(
      ({ event }) => event.type,
      (error: { readonly code: string }) => error.code,
    )
  const verified = yield* Effect.promise(() => check(body))
  const forged = yield* Effect.promise(() => check(body.replace("4200", "1")))
  return { name, total: String(totalQuantity), deliveries, verified, forged }
})

const layer = Dispatcher.layerManual().pipe(
  Layer.provide(transport),
  Layer.provideMerge(Billing.layer),
  Layer.provideMerge(Memory.layer),
)

export const run = () =>
  program.pipe(
    Effect.provide(layer),
    Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
    Effect.runPromise,
  )
