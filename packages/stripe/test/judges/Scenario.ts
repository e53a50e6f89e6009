/**
 * What the fake, localstripe and Stripe itself have in common, by the official SDK. The observations of one must be those
 * of another.
 */
import { Stripe } from "stripe"

const CARDS = {
  works: "4242424242424242",
  refused: "4000000000000002",
  declinedLater: "4000000000000341",
  asks: "4000002760003184",
}

/** What was seen, without ids and texts. */
export type Observations = Readonly<Record<string, unknown>>

const failureOf = async (call: Promise<unknown>) => {
  try {
    await call
    return "no error"
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    return { status: error.statusCode, code: error.code ?? null }
  }
}

const cardOf = (number: string): Stripe.PaymentMethodCreateParams => ({
  type: "card",
  card: { number, exp_month: 12, exp_year: 2040, cvc: "123" },
})

/** Does the same at every server. */
export const observe = async (client: Stripe): Promise<Observations> => {
  const seen: Record<string, unknown> = {}
  const customer = await client.customers.create({
    name: "Ada",
    email: "ada@example.com",
    metadata: { a: "1" },
  })
  const read = await client.customers.retrieve(customer.id)
  seen["customer"] = "name" in read && [read.object, read.name, read.email, read.metadata]
  const renamed = await client.customers.update(customer.id, { name: "Ada King" })
  seen["renamed customer"] = [renamed.name, renamed.email]
  seen["no customer"] = (
    (await failureOf(client.customers.retrieve("cus_none"))) as { status: number }
  ).status

  /** A payment with a card of the customer. */
  const opened = async (number: string) => {
    const method = await client.paymentMethods.create(cardOf(number))
    await client.paymentMethods.attach(method.id, { customer: customer.id })
    return client.paymentIntents.create({
      amount: 2_000,
      currency: "eur",
      customer: customer.id,
      payment_method: method.id,
      metadata: { payment: "1" },
    })
  }
  const stateOf = async (id: string) => {
    const intent = await client.paymentIntents.retrieve(id, { expand: ["latest_charge"] })
    const { latest_charge: charge, last_payment_error: error } = intent
    return [
      intent.status,
      intent.amount,
      intent.currency,
      intent.metadata,
      error?.code ?? null,
      typeof charge === "object" && charge !== null ? [charge.status, charge.paid, charge.amount] : null,
    ]
  }

  const refused = await client.paymentMethods.create(cardOf(CARDS.refused))
  seen["card type"] = [refused.object, refused.type, refused.card?.last4, refused.card?.exp_year]
  seen["card that is refused"] = await failureOf(
    client.paymentMethods.attach(refused.id, { customer: customer.id }),
  )

  const works = await opened(CARDS.works)
  seen["open"] = [works.status, typeof works.client_secret]
  const paid = await client.paymentIntents.confirm(works.id, { off_session: true })
  seen["confirmed"] = [paid.status, await stateOf(works.id)]
  seen["canceled too late"] = (
    (await failureOf(client.paymentIntents.cancel(works.id))) as { status: number }
  ).status
  const refund = await client.refunds.create({
    payment_intent: works.id,
    amount: 500,
    metadata: { refund: "1" },
  })
  seen["refund"] = [refund.object, refund.status, refund.amount, refund.currency, refund.metadata]
  const refunds = await client.refunds.list({ payment_intent: works.id })
  seen["refunds"] = refunds.data.map(({ amount, id }) => [amount, id === refund.id])

  const declined = await opened(CARDS.declinedLater)
  seen["declined"] = await failureOf(client.paymentIntents.confirm(declined.id, { off_session: true }))
  seen["after the decline"] = await stateOf(declined.id)

  const asks = await opened(CARDS.asks)
  const asked = await client.paymentIntents.confirm(asks.id)
  seen["asks the customer"] = [asked.status, asked.next_action?.type]

  const unwanted = await opened(CARDS.works)
  seen["canceled"] = (await client.paymentIntents.cancel(unwanted.id)).status
  const late = failureOf(client.paymentIntents.confirm(unwanted.id))
  seen["confirmed too late"] = ((await late) as { status: number }).status

  const setup = await client.setupIntents.create({ customer: customer.id, usage: "off_session" })
  seen["setup"] = [setup.object, setup.status, setup.usage, typeof setup.client_secret]
  const method = await client.paymentMethods.create(cardOf(CARDS.works))
  const saved = await client.setupIntents.confirm(setup.id, { payment_method: method.id })
  seen["saved"] = [saved.status, saved.payment_method === method.id]
  const detached = await client.paymentMethods.detach(method.id)
  seen["detached"] = detached.customer
  return seen
}
