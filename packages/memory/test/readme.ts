import { Billing, CurrentTenant, Customers, Tenant, Usage } from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { Effect, Layer } from "effect"

const program = Effect.gen(function* () {
  const customer = yield* (yield* Customers).create({ name: "Ada Lovelace", email: "ada@example.com" })
  const usage = yield* Usage
  yield* usage.record({ customerId: customer.id, productId: "api", unit: "call", quantity: 3 })
  const { totalQuantity } = yield* usage.summary({ customerId: customer.id })

  // Look at what is stored.
  const { rollups } = yield* (yield* MemoryInspector).snapshot
  return { totalQuantity, rollups }
})

const tenant = { accountId: Tenant.defaultAccountId, mode: "test" as const }
const services = Layer.provideMerge(Billing.layer, Memory.layer)

export const result = await Effect.runPromise(
  program.pipe(Effect.provideService(CurrentTenant, tenant), Effect.provide(services)),
)
