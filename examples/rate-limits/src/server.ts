/** Starts the API with a customer on each plan, and prints how to call it. */
import type { AddressInfo } from "node:net"
import { createBilling } from "billwright"
import { memory } from "billwright/memory"
import { createApp } from "./App.ts"
import { setUp } from "./Plans.ts"

const billing = await createBilling({ store: memory(), mode: "test" })
await setUp(billing)
const keys = new Map<string, string>()
for (const plan of ["free", "pro"]) {
  const { id } = await billing.customers.create({ name: `Customer of ${plan}`, email: `${plan}@example.com` })
  await billing.subscriptions.create({ customerId: id, plan })
  keys.set(`${plan}-key`, id)
}

const app = createApp({ billing, customerOf: (key) => keys.get(key) })
const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  for (const key of keys.keys()) console.log(`curl -i http://127.0.0.1:${port}/time -H 'x-api-key: ${key}'`)
})
const close = async (): Promise<void> => {
  await new Promise((closed) => server.close(closed))
  await billing.close()
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, close)
