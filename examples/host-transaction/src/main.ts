/**
 * In each shop, commits one order and rolls back another one. Then it compares the orders with the recorded usage.
 */
import { randomUUID } from "node:crypto"
import { Client } from "pg"
import { newCustomer, openBilling, totalOf, type Billing } from "./Billing.ts"
import { withDatabase } from "./Database.ts"
import { CREATE_ORDERS, type Order } from "./Order.ts"
import type { Shop } from "./Shop.ts"
import { SHOPS } from "./Shops.ts"

class CalledOff extends Error {}

const interrupted = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort())

const place = async (shop: Shop, order: Order, check: () => Promise<void>): Promise<void> => {
  // Checked between two orders, so that everything is closed properly.
  interrupted.signal.throwIfAborted()
  const outcome = await shop.placeOrder(order, check).then(
    () => "committed",
    (error: unknown) => {
      if (error instanceof CalledOff) return "rolled back"
      throw error
    },
  )
  console.log(`${order.product.padEnd(11)}  order ${order.id} ${outcome}`)
}

const sell = async (url: string, billing: Billing, customerId: Order["customerId"]): Promise<void> => {
  for (const [index, [product, open]] of Object.entries(SHOPS).entries()) {
    const shop = open(url, billing)
    // Near the largest quantity of a record. Their total is too large for a number of JavaScript.
    const credits = Number.MAX_SAFE_INTEGER - index
    try {
      await place(shop, { id: randomUUID(), customerId, product, credits }, async () => {})
      await place(shop, { id: randomUUID(), customerId, product, credits }, async () => {
        throw new CalledOff("the customer thinks better of it")
      })
    } finally {
      await shop.close()
    }
  }
}

/** Prints the ordered credits beside the recorded usage. Returns whether they are the same. */
const compare = async (url: string, billing: Billing, customerId: Order["customerId"]): Promise<boolean> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ product: string; orders: string; credits: string }>(
    "select product, count(*) as orders, sum(credits) as credits from orders where customer_id = $1 group by 1",
    [customerId],
  )
  await client.end()
  const ordered = new Map(rows.map((row) => [row.product, row]))
  const print = (first: string, ...columns: ReadonlyArray<string | number | bigint>): void =>
    console.log([first.padEnd(11), ...columns.map((column) => String(column).padStart(18))].join("  "))
  print("", "orders", "their credits", "usage records", "their total")
  let isSame = true
  let [credits, total] = [0n, 0n]
  for (const product of Object.keys(SHOPS)) {
    const order = ordered.get(product) ?? { orders: "0", credits: "0" }
    const billed = await billing.run(totalOf(customerId, product))
    print(product, order.orders, order.credits, billed.recordCount, billed.totalQuantity)
    isSame &&= order.orders === String(billed.recordCount) && BigInt(order.credits) === billed.totalQuantity
    credits += BigInt(order.credits)
    total += billed.totalQuantity
  }
  print("all", "", credits, "", total)
  return isSame
}

await withDatabase(async (url) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(CREATE_ORDERS)
  await client.end()
  const billing = openBilling(url)
  try {
    const { id } = await billing.run(newCustomer("Ada Lovelace"))
    console.log(`customer     ${id}`)
    await sell(url, billing, id)
    console.log()
    const isSame = await compare(url, billing, id)
    console.log(isSame ? "\nThey agree." : "\nThey differ.")
    process.exitCode = isSame ? 0 : 1
  } finally {
    await billing.close()
  }
})
