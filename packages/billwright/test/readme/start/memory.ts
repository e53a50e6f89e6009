import { createBilling } from "billwright"
import { memory } from "billwright/memory"

const billing = await createBilling({ store: memory() })

const customer = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
await billing.usage.record({
  customerId: customer.id,
  productId: "api",
  quantity: 5,
  unit: "call",
  idempotencyKey: "request-8f14", // a retry counts once
})
const { totalQuantity, unit } = await billing.usage.summary({ customerId: customer.id })
console.log(`${totalQuantity} ${unit}`) // 5 call

await billing.close()
