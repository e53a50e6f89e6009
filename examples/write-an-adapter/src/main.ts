/** Records usage on the storage of `Sqlite.ts`, in the file that is named; run again, it goes on from there. */
import { Billing, CurrentTenant, Customers, Tenant, Usage } from "@billwright/core"
import { Effect, Layer } from "effect"
import * as Sqlite from "./Sqlite.ts"

const path = process.argv[2] ?? "billing.sqlite"

const program = Effect.gen(function* () {
  const customers = yield* Customers
  const usage = yield* Usage
  const email = "ada@example.com"
  const [known] = (yield* customers.list({ email })).data
  const customer = known ?? (yield* customers.create({ name: "Ada Lovelace", email }))
  yield* usage.record({ customerId: customer.id, productId: "api", quantity: 5, unit: "call" })
  const { recordCount, totalQuantity } = yield* usage.summary({ customerId: customer.id })
  console.log(`${customer.name}: ${totalQuantity} calls in ${recordCount} records`)
})

await program.pipe(
  Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
  // The only line that says where billing is kept.
  Effect.provide(Billing.layer.pipe(Layer.provide(Sqlite.layer(path)))),
  Effect.runPromise,
)
