/** Starts the shop: `npm start`. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createBilling, generateEncryptionKey } from "billwright"
import { memory } from "billwright/memory"
import { postgres } from "billwright/postgres"
import { stripe } from "billwright/stripe"
import express from "express"
import { Pool } from "pg"
import { Stripe } from "stripe"
import { startFakeBank } from "./FakeBank.ts"
import { PLANS } from "./Plans.ts"
import { makeShop } from "./Shop.ts"
import { makeUsers } from "./Users.ts"

const {
  DATABASE_URL,
  PAYER_LINK_KEYS,
  PORT = "3000",
  PUBLIC_URL,
  STRIPE_PUBLISHABLE_KEY,
  STRIPE_SECRET_KEY,
  STRIPE_WEBHOOK_SECRET,
} = process.env

// Without keys of Stripe, the shop runs against a fake of Stripe on this machine.
const fake = STRIPE_SECRET_KEY === undefined ? await startFakeBank() : undefined
if (fake === undefined && !(STRIPE_PUBLISHABLE_KEY && STRIPE_WEBHOOK_SECRET)) {
  console.error("STRIPE_SECRET_KEY also needs STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET")
  process.exit(1)
}
const client = fake?.client ?? new Stripe(STRIPE_SECRET_KEY ?? "")
const webhookSecrets = [fake?.webhookSecret ?? STRIPE_WEBHOOK_SECRET ?? ""]

// It listens before billing is made, because links to the pages for payers have its address.
const server = createServer().listen(Number(PORT), "127.0.0.1")
await once(server, "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const pool = DATABASE_URL === undefined ? undefined : new Pool({ connectionString: DATABASE_URL })
pool?.on("error", (error) => console.error(error.message))
const billing = await createBilling({
  store: pool === undefined ? memory() : postgres({ pool }),
  mode: STRIPE_SECRET_KEY?.startsWith("sk_live_") === true ? "live" : "test",
  payments: stripe({ client, webhookSecrets }),
  invoices: { seller: { name: "The Daily Example", country: "IE" } },
  // Without keys of yours, links end with this process.
  payerPages: { url: `${PUBLIC_URL ?? url}/billing`, keys: PAYER_LINK_KEYS ?? generateEncryptionKey() },
})
for (const plan of PLANS) await billing.plans.push(plan)

const script = fake?.script ?? {
  src: "https://js.stripe.com/v3/",
  publishableKey: STRIPE_PUBLISHABLE_KEY ?? "",
}
const app = express()
fake?.mount(app)
app.use(
  billing
    .payerPages({
      theme: {
        // The colours of public/style.css.
        accent: "#1f5f4a",
        background: "#f6f6f4",
        text: "#1c2024",
        dark: { accent: "#7fd1b0", background: "#14171a", text: "#e9ebed" },
      },
    })
    .express(),
)
app.use(makeShop({ billing, users: await makeUsers(billing, pool), script }))

server.on("request", app)
fake?.send(`${url}/webhooks/stripe`)
console.log(`listening on ${url}`)

const close = async (): Promise<void> => {
  await new Promise((closed) => {
    server.close(closed)
    server.closeAllConnections()
  })
  await billing.close()
  await fake?.close()
  await pool?.end()
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void close())
