/** Starts the endpoint with one customer who has a credit, and prints how to call it. */
import type { AddressInfo } from "node:net"
import { createBilling } from "billwright"
import { memory } from "billwright/memory"
import { card, createApp } from "./App.ts"
import { parrot } from "./Model.ts"

const billing = await createBilling({ store: memory(), mode: "test" })
await billing.rateCards.push(card)
const { id } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
await billing.credits.grant({ customerId: id, unit: "credit", kind: "promotional", amount: 1_000_000 })

const server = createApp(billing, parrot(50)).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  console.log(
    `curl -N http://127.0.0.1:${port}/customers/${id}/chat --json '{"prompt": "to be or not to be"}'`,
  )
})
const close = async (): Promise<void> => {
  await new Promise((closed) => server.close(closed))
  await billing.close()
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close)
