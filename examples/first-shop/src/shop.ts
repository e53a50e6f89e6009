/** A shop for prints of photos: a plan, usage, an invoice, and a payment by a provider that takes no money. */
import { writeFile } from "node:fs/promises"
import { definePlan } from "billwright"
import { createTestBilling, fakePayments } from "billwright/testing"

const payments = fakePayments()
const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments })

// What it sells: 9 euros a month. Of the prints, 20 are free, the next 80 cost 0.25 each, and all others 0.18.
const studio = definePlan("studio", {
  name: "Studio",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  meters: ["prints"],
  charges: [
    { key: "base", name: "Base fee", model: "flat", price: { EUR: "9.00" } },
    {
      key: "prints",
      name: "Prints",
      model: "graduated",
      meter: "prints",
      free: "20",
      tiers: [{ up_to: "80", price: { EUR: "0.25" } }, { price: { EUR: "0.18" } }],
    },
  ],
})
await billing.meters.create({ key: "prints", productId: "shop", unit: "print" })
await billing.plans.push(studio)

const { id: customerId } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
await payments.saveCard(customerId)
const { id: subscriptionId } = await billing.subscriptions.create({ customerId, plan: "studio" })

// Orders of three days. A browser sends one of them twice: it counts once.
const order = (idempotencyKey: string, quantity: number) =>
  billing.usage.record({ customerId, productId: "shop", unit: "print", quantity, idempotencyKey })
await billing.testing.advance({ days: 3 })
await order("order 1", 60)
await order("order 2", 75)
await order("order 2", 75)
const upcoming = await billing.invoices.upcoming(subscriptionId)
console.log(`so far: ${upcoming?.total}`)

// A month passes. The card is declined at first, and charged again by itself.
payments.next({ code: "insufficient_funds" })
await billing.testing.advanceTo("2026-02-01T12:00:00Z")
const newest = async () => (await billing.invoices.list({ customerId }).page()).data[0]!
const declined = await newest()
console.log(declined.number, declined.status, declined.collection)
await billing.testing.advance({ days: 3 })
const paid = await newest()
console.log(paid.number, paid.status, paid.total)
for (const { amount, description } of paid.lines) console.log(`${description}: ${amount}`)
await writeFile("invoice.html", await billing.invoices.html(paid.id))
await billing.close()
