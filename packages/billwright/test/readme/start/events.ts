import { createBilling, defineEvent } from "billwright"
import { memory } from "billwright/memory"
import { z } from "zod"

const orderShipped = defineEvent({
  name: "order.shipped",
  description: "An order left the warehouse.",
  schema: z.strictObject({ order_id: z.string(), boxes: z.int() }),
  example: { order_id: "ord_1", boxes: 2 },
})

const billing = await createBilling({
  store: memory(),
  mode: "test",
  events: [orderShipped],
  network: { allowLoopback: true }, // for trials: test mode may send to this machine
})

const { secret } = await billing.endpoints.create({
  url: "http://localhost:3000/hooks",
  eventTypes: ["order.shipped"],
})
console.log(secret !== null) // true: shown this once, for billwright/verify

await billing.transaction(async (tx) => {
  await tx.events.publish({ type: "order.shipped", data: { order_id: "ord_42", boxes: 1 } }) // typed
})

for await (const event of billing.events.list()) {
  if (event.type === "order.shipped") console.log(event.data.boxes) // 1
}

await billing.close()
