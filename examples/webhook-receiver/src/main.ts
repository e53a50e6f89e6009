/** Receives webhooks on PORT and prints a line for each. See README.md. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { WebhookKeys } from "billwright/verify"
import { makeReceiver } from "./Receiver.ts"

/** Requests that take longer are ended. */
const REQUEST_TIMEOUT_MILLIS = 30_000

const readKeys = (text: string): WebhookKeys => {
  const keys = text.split(/\s+/).filter((key) => key !== "")
  const isPublic = (key: string) => key.startsWith("whpk_")
  return { publicKey: keys.filter(isPublic), secret: keys.filter((key) => !isPublic(key)) }
}

const secret = process.env["WEBHOOK_SECRET"] ?? ""
const port = Number(process.env["PORT"] ?? 3000)

if (secret.trim() === "") {
  console.error("Set WEBHOOK_SECRET to the endpoint's secret (whsec_…) or public key (whpk_…).")
  process.exit(1)
}

const receiver = makeReceiver({
  keys: readKeys(secret),
  onEvent: ({ event, id }) => console.log(`verified ${event.type} ${id} (livemode ${event.livemode})`),
  onRepeat: ({ event, id }) => console.log(`repeated ${event.type} ${id}: answered, not handled again`),
  onRefusal: (code, message) => console.error(`refused ${code}: ${message}`),
})

const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MILLIS }, receiver)
server.listen(port, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
