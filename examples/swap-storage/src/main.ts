/** Records usage and publishes events, on any storage. See README.md. */
import { ConflictError, createBilling } from "billwright"
import { store } from "./memory.ts" // the line to change

const billing = await createBilling({ store, dispatcher: false })
const { id: customerId } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })

/** Stores usage and its invoice, or neither. */
const bill = (invoiceId: string, quantity: number) =>
  billing.transaction(async (tx) => {
    const idempotencyKey = `${customerId}-${invoiceId}`
    await tx.usage.record({ customerId, productId: "api", quantity, unit: "call", idempotencyKey })
    const data = { invoice_id: invoiceId, customer_id: customerId, amount: 4200, currency: "EUR" }
    await tx.events.publish({ type: "invoice.paid", data, customerId, idempotencyKey })
  })

await bill("in_1", 5)
await bill("in_1", 5) // a retry counts once
await bill("in_2", Number.MAX_SAFE_INTEGER)
const conflict = await bill("in_2", 1).catch((error: unknown) => error)
console.log(`refused: ${conflict instanceof ConflictError ? conflict.code : String(conflict)}`)

const { recordCount, totalQuantity, unit } = await billing.usage.summary({ customerId })
console.log(`usage: ${totalQuantity} ${unit} in ${recordCount} records`)
for await (const { data, type } of billing.events.list({ customerId }))
  console.log(`event: ${type} ${JSON.stringify(data).replace(customerId, "cus_…")}`)
await billing.close()
