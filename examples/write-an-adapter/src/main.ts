/** Records usage in the given SQLite file. When it is run again, it continues with the stored data. */
import { createBilling } from "billwright"
import { sqlite } from "./Sqlite.ts"

// The only line that chooses the storage.
const billing = await createBilling({ store: sqlite(process.argv[2] ?? "billing.sqlite"), mode: "test" })

const email = "ada@example.com"
const [known] = (await billing.customers.list({ email }).page()).data
const customer = known ?? (await billing.customers.create({ name: "Ada Lovelace", email }))
await billing.usage.record({ customerId: customer.id, productId: "api", quantity: 5, unit: "call" })
const { recordCount, totalQuantity } = await billing.usage.summary({ customerId: customer.id })
console.log(`${customer.name}: ${totalQuantity} calls in ${recordCount} records`)
await billing.close()
