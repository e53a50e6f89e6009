/**
 * A company with a quarter of billing, made by the API alone: plans in two versions, subscriptions in each state, invoices
 * that were paid, declined or are drafts, credits, holds and alerts. A test clock makes the time pass.
 */
import type * as Host from "./Host.ts"

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS
/** How long ago the test clock starts, in days. */
const DAYS = 100
/** A test clock is advanced by steps, and usage is recorded in between. */
const STEP_DAYS = 5

const calls = (first: string, rest: string) => ({
  key: "calls",
  name: "API calls",
  model: "graduated",
  meter: "api_calls",
  free: "1000",
  tiers: [{ up_to: "10000", price: { EUR: first } }, { price: { EUR: rest } }],
})

const monthly = { currencies: ["EUR"], interval: { unit: "month", count: 1 } }

const starter = (price: string) => ({
  ...monthly,
  key: "starter",
  name: "Starter",
  charges: [{ key: "base", name: "Base fee", model: "flat", price: { EUR: price } }],
  features: { sso: { type: "boolean" } },
})

const pro = (price: string, rest: string) => ({
  ...monthly,
  key: "pro",
  name: "Pro",
  description: "For teams that ship every day",
  charges: [
    { key: "base", name: "Base fee", model: "flat", price: { EUR: price } },
    { key: "seats", name: "Seats", model: "unit", quantity: "seats", price: { EUR: "9.00" } },
    calls("0.01", rest),
  ],
  features: {
    sso: { type: "boolean" },
    region: { type: "config", value: "eu-central" },
    api: { type: "metered", meter: "api_calls", included: "20000", limit: "soft" },
  },
  grants: [{ unit: "token", amount: "5000" }],
})

export interface BillingSample {
  readonly clockId: string
  /** A customer with everything: paid invoices, a card, credits, alerts. */
  readonly customerId: string
  readonly subscriptionId: string
  readonly paidInvoiceId: string
  /** A payment that a person has to look at. */
  readonly troubledPaymentId: string
  readonly paidPaymentId: string
  /** An open invoice whose card was declined. */
  readonly declinedInvoiceId: string
  readonly draftInvoiceId: string
}

const idOf = (answer: Record<string, unknown>): string => String(answer["id"])

const maker = (host: Host.Host) => {
  const post = async (path: string, body: unknown = {}): Promise<string> =>
    idOf(await host.call("POST", path, body))
  const first = async (path: string): Promise<string> => {
    const { data } = await host.call("GET", path)
    return String((data as ReadonlyArray<Record<string, unknown>>)[0]?.["id"])
  }
  return { post, first }
}

/** The customer saves a card at the provider, and it becomes the default. */
export const saveCard = async (
  host: Host.Host,
  customer_id: string,
  card: { readonly code?: string; readonly brand?: string; readonly last4?: string } = {},
): Promise<string> => {
  const { post } = maker(host)
  const id = await post("/payment_methods", { customer_id })
  await host.call("POST", `/payment_methods/${id}/setup`, {})
  const { setup_reference: setup } = await host.call("GET", `/payment_methods/${id}`)
  const { code, ...shown } = card
  host.provider.methods?.save(String(setup), { ...shown, behaviour: code === undefined ? "works" : { code } })
  await host.call("POST", `/payment_methods/${id}/refresh`, {})
  return id
}

/** Advances a test clock until everything that is due has been done. */
const advance = async (host: Host.Host, clockId: string, to: number): Promise<void> => {
  for (;;) {
    const body = { to: new Date(to).toISOString() }
    const { status } = await host.call("POST", `/test_clocks/${clockId}/advance`, body)
    if (status === "ready") return
  }
}

const recordCalls = async (host: Host.Host, customer_id: string, until: number, size: number) => {
  const records = Array.from({ length: STEP_DAYS }, (_, day) => ({
    customer_id,
    product_id: "api",
    unit: "call",
    quantity: size + ((day * 37) % 11) * 20,
    timestamp: new Date(until - (day + 1) * DAY_MILLIS + HOUR_MILLIS).toISOString(),
  }))
  await host.call("POST", "/usage/batch", { records })
}

const pushPlans = async (host: Host.Host): Promise<void> => {
  await host.call("POST", "/meters", { key: "api_calls", product_id: "api", unit: "call", name: "API calls" })
  await host.call("POST", "/catalog/push", { plans: [starter("9.00"), pro("29.00", "0.004")] })
}

/** Credits that are granted once, and used bit by bit. */
const useCredits = async (host: Host.Host, customer_id: string, day: number): Promise<void> => {
  const tokens = { customer_id, unit: "token" }
  if (day === 50) await host.call("POST", "/credit_grants", { ...tokens, kind: "paid", amount: 20_000 })
  if (day === 75) await host.call("POST", "/credit_grants", { ...tokens, kind: "promotional", amount: 4_000 })
  if (day >= 50)
    await host.call("POST", "/credit_consumptions", { ...tokens, amount: 900 + ((day * 7) % 11) * 60 })
}

/** Makes the sample in a host. It takes some seconds. */
export const make = async (host: Host.Host): Promise<BillingSample> => {
  const { first, post } = maker(host)
  await pushPlans(host)
  const start = Math.floor(Date.now() / DAY_MILLIS - DAYS) * DAY_MILLIS
  const clockId = await post("/test_clocks", { name: "A quarter", now: new Date(start).toISOString() })
  const customer = (name: string) =>
    post("/customers", {
      name,
      email: `billing@${name.toLowerCase().replaceAll(/[^a-z]/g, "")}.example`,
      test_clock_id: clockId,
      currency: "EUR",
      country: "DE",
    })
  const [acme, globex, initech, hooli, umbrella, stark] = (await Promise.all(
    ["Acme Rockets", "Globex", "Initech", "Hooli", "Umbrella Labs", "Stark & Söhne"].map(customer),
  )) as [string, string, string, string, string, string]
  await saveCard(host, acme)
  await saveCard(host, globex, { brand: "mastercard", last4: "0341", code: "insufficient_funds" })
  await saveCard(host, hooli, { last4: "1881" })
  const subscribe = (customer_id: string, plan: string, quantities = {}) =>
    post("/subscriptions", { customer_id, plan, quantities })
  const subscriptionId = await subscribe(acme, "pro", { seats: "12" })
  await subscribe(globex, "pro", { seats: "3" })
  await subscribe(initech, "starter")
  const paused = await subscribe(umbrella, "starter")
  const ending = await subscribe(hooli, "pro", { seats: "5" })
  await post("/spend_alerts", { customer_id: acme, currency: "EUR", amount: 25_000 })
  await post("/coupons", { code: "WELCOME", name: "Welcome", percent: "20", duration: "once" })
  await post("/redemptions", { coupon: "WELCOME", subscription_id: subscriptionId })

  for (let day = STEP_DAYS; day < DAYS; day += STEP_DAYS) {
    const now = start + day * DAY_MILLIS
    await advance(host, clockId, now)
    await recordCalls(host, acme, now, 900 + day * 9)
    await recordCalls(host, globex, now, 300)
    await useCredits(host, acme, day)
    if (day === 40) {
      await host.call("POST", "/catalog/push", { plans: [starter("12.00"), pro("39.00", "0.003")] })
      await post("/subscriptions", { customer_id: stark, plan: "starter" })
    }
    if (day === 60) await host.call("POST", `/subscriptions/${paused}/pause`, {})
  }
  await host.call("POST", `/subscriptions/${ending}/cancel`, { at: "period_end" })
  await post("/holds", { customer_id: acme, unit: "token", amount: 1_500, ttl_seconds: 86_400 })
  const draftInvoiceId = await post("/invoices", {
    customer_id: acme,
    lines: [
      { description: "Workshop on site", amount: 180_000 },
      { description: "Rebate for the early booking", amount: -18_000 },
    ],
  })
  const small = await post("/invoices", {
    customer_id: globex,
    lines: [{ description: "A very small thing", amount: 12 }],
  })
  await host.call("POST", `/invoices/${small}/finalize`)
  await advance(host, clockId, start + (DAYS - 1) * DAY_MILLIS)
  const paidPaymentId = await first(`/payments?customer_id=${acme}&status=succeeded&limit=1`)
  await post("/refunds", { payment_id: paidPaymentId, amount: 4_004, reason: "unsatisfactory" })
  await host.bill()
  return {
    clockId,
    troubledPaymentId: await first(`/payments?invoice_id=${small}&limit=1`),
    paidPaymentId,
    customerId: acme,
    subscriptionId,
    paidInvoiceId: await first(`/invoices?customer_id=${acme}&status=paid&limit=1`),
    declinedInvoiceId: await first(`/invoices?customer_id=${globex}&status=open&limit=1`),
    draftInvoiceId,
  }
}
