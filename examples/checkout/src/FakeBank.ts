/**
 * Stripe on this machine, for trying the shop and for its tests: the fake of its API, its webhooks, a stand-in for Stripe.js,
 * and the bank that asks the customer. With your keys of Stripe, none of it is used.
 */
import { FakeStripe, signEvent, type StripeAccount } from "@billwright/testing/stripe"
import type { Express } from "express"
import express from "express"
import { Stripe } from "stripe"
import type { StripeScript } from "./Pages.ts"

/** How often events that happened are sent. Those that were not taken are sent again. */
const SEND_MILLIS = 100

export interface FakeBank {
  readonly client: Stripe
  readonly webhookSecret: string
  readonly script: StripeScript
  readonly account: StripeAccount
  /** Adds what stands in for Stripe.js. */
  mount(app: Express): void
  /** Begins to send events to the shop, as Stripe does. */
  send(url: string): void
  close(): Promise<void>
}

const NOT_CONFIRMED = {
  code: "payment_intent_authentication_failure",
  declineCode: "authentication_failed",
}

/** The bank's question: the customer has confirmed, or has refused. */
const answer = (account: StripeAccount, intent: string, isConfirmed: boolean): void => {
  if (intent.startsWith("seti_")) account.completeSetup(intent, isConfirmed)
  else account.complete(intent, isConfirmed ? undefined : NOT_CONFIRMED)
}

export const startFakeBank = async (): Promise<FakeBank> => {
  const fake = await FakeStripe.start()
  const keyOf = (kind: string) => [kind, "test", "shop"].join("_")
  const account = fake.account(keyOf("sk"))
  const webhookSecret = ["whsec", "shop"].join("_")
  const { host, port } = fake
  const client = new Stripe(keyOf("sk"), { host, port, protocol: "http", telemetry: false })
  let sender: NodeJS.Timeout | undefined
  let sent = 0
  const sendNext = async (url: string): Promise<void> => {
    const event = account.events[sent]
    if (event === undefined) return
    const { body, headers } = signEvent(event, webhookSecret, Date.now())
    const response = await fetch(url, { method: "POST", headers, body }).catch(() => undefined)
    if (response?.status !== 200) return
    sent += 1
    await sendNext(url)
  }
  return {
    account,
    client,
    webhookSecret,
    script: { src: "/fake-stripe.js", publishableKey: keyOf("pk"), api: `http://${host}:${port}` },
    mount: (app) => {
      app.post("/fake-bank", express.json(), (request, response) => {
        const { intent, isConfirmed } = request.body as { intent: string; isConfirmed: boolean }
        answer(account, intent, isConfirmed)
        response.sendStatus(204)
      })
    },
    send: (url) => {
      let sending: Promise<void> | undefined
      sender = setInterval(() => {
        sending ??= sendNext(url).finally(() => (sending = undefined))
      }, SEND_MILLIS)
    },
    close: () => {
      clearInterval(sender)
      return fake.close()
    },
  }
}
