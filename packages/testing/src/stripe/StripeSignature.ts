/**
 * Signatures of Stripe's events.
 */
import { createHmac } from "node:crypto"

/** What a request that tells of an event has. */
export interface SignedEvent {
  readonly body: string
  readonly headers: { readonly "content-type": string; readonly "stripe-signature": string }
}

/** Signs an event as Stripe does, at an instant in epoch milliseconds. */
export const signEvent = (event: object, secret: string, at: number): SignedEvent => {
  const body = JSON.stringify(event, null, 2)
  const seconds = Math.floor(at / 1_000)
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")
  return {
    body,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": `t=${seconds},v1=${signature}`,
    },
  }
}
