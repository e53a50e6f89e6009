/**
 * A shop that places one order and stops before its commit. `host-transaction.test.ts` runs it as a process and kills it.
 */
import type { Customer } from "@billwright/core"
import { openBilling } from "../src/Billing.ts"
import { SHOPS } from "../src/Shops.ts"

const [url = "", product = "", id = "", customerId = ""] = process.argv.slice(2)
const shop = SHOPS[product]!(url, openBilling(url))
const order = { id, customerId: customerId as Customer.CustomerId, product, credits: 1 }
await shop.placeOrder(order, () => {
  process.stdout.write("before the commit\n")
  return new Promise(() => {})
})
