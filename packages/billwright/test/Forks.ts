/** A customer with everything that is billed, and pictures of it that are the same in every world. */
import { type BillingCalls, definePlan } from "billwright"
import { createTestBilling, fakePayments, type TestBillingOptions } from "billwright/testing"

export const START = "2026-01-31T12:00:00Z"

const month = { unit: "month", count: 1 } as const

const pro = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: month,
  meters: ["calls", "seats_used", "storage"],
  quantities: ["seats"],
  charges: [
    { key: "base", model: "flat", timing: "advance", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", timing: "advance", quantity: "seats", price: { EUR: "5.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "calls",
      by: "region",
      minimum: { EUR: "1.00" },
      tiers: [{ up_to: "100", price: { EUR: "0.10" } }, { price: { EUR: "0.033" } }],
    },
    { key: "used", model: "unit", meter: "seats_used", price: { EUR: "1.00" } },
    { key: "storage", model: "unit", meter: "storage", price: { EUR: "0.50" } },
  ],
  grants: [{ unit: "credits", amount: "1000", rollover: { maximum: "500" } }],
})

export const team = definePlan("team", {
  name: "Team",
  currencies: ["EUR"],
  interval: month,
  meters: ["calls"],
  charges: [
    { key: "base", model: "flat", timing: "advance", price: { EUR: "99.00" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.02" } },
  ],
})

/** A test billing with plans, meters and coupons. */
export const begin = async (options: Pick<TestBillingOptions, "store"> = {}) => {
  const payments = fakePayments()
  const billing = await createTestBilling({ ...options, now: START, payments })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call", dimensions: ["region"] })
  await billing.meters.create({
    key: "seats_used",
    productId: "app",
    unit: "seat",
    aggregation: "max",
  })
  await billing.meters.create({
    key: "storage",
    productId: "disk",
    unit: "gb",
    aggregation: "time_weighted",
  })
  await billing.plans.push([pro, team])
  await billing.coupons.create({
    code: "WELCOME",
    name: "Welcome",
    percent: "12.5",
    duration: "periods",
    periods: 3,
  })
  return { billing, payments }
}

/** What happens to a customer before a fork. Each is a part of one history. */
export const HISTORY = [
  "card",
  "usage",
  "void",
  "item",
  "credits",
  "declined",
  "change",
  "pause",
  "consume",
] as const
export type Event = (typeof HISTORY)[number]

type World = Awaited<ReturnType<typeof begin>>

export const subscribe = async (calls: BillingCalls, customerId: string) => {
  const { id } = await calls.subscriptions.create({
    customerId,
    plan: "pro",
    quantities: { seats: 3 },
    coupon: "WELCOME",
  })
  return id
}

/** Records usage of all meters. */
export const use = async (calls: BillingCalls, customerId: string, quantity: number, timestamp?: Date) => {
  const [first] = await calls.usage.recordBatch([
    { customerId, productId: "api", unit: "call", quantity, timestamp, dimensions: { region: "eu" } },
    { customerId, productId: "api", unit: "call", quantity: 2 * quantity, timestamp },
    { customerId, productId: "app", unit: "seat", quantity: quantity % 7, timestamp },
    { customerId, productId: "disk", unit: "gb", quantity: quantity % 11, timestamp },
  ])
  return first!.record.id
}

/** Saves a card that is charged from now on. */
export const saveDefault = async (
  { billing, payments }: World,
  customerId: string,
  card: Parameters<typeof payments.saveCard>[1],
): Promise<void> => {
  const { id } = await payments.saveCard(customerId, card)
  await billing.paymentMethods.update(id, { isDefault: true })
}

/** Does one part of a history. */
export const happen = async (
  { billing, payments }: World,
  { customerId, subscriptionId }: { readonly customerId: string; readonly subscriptionId: string },
  event: Event,
): Promise<void> => {
  const { phase } = await billing.subscriptions.get(subscriptionId)
  switch (event) {
    case "card":
      return void (await payments.saveCard(customerId))
    case "usage":
      return void (await use(billing, customerId, 60))
    case "void":
      return void (await billing.usage.voidRecord(await use(billing, customerId, 40)))
    case "item":
      return void (await billing.invoiceItems.create({
        customerId,
        currency: "EUR",
        amount: 1_250,
        description: "Setup",
      }))
    case "credits":
      return void (await billing.credits.grant({
        customerId,
        unit: "EUR",
        kind: "promotional",
        amount: 1_500,
      }))
    case "declined":
      return saveDefault({ billing, payments }, customerId, { behaviour: { code: "insufficient_funds" } })
    case "change":
      if (phase !== "active") return
      return void (await billing.subscriptions.change(subscriptionId, {
        quantities: { seats: 5 },
        at: "now",
      }))
    case "pause": {
      if (phase === "active") await billing.subscriptions.pause(subscriptionId)
      if (phase === "paused") await billing.subscriptions.resume(subscriptionId)
      return
    }
    case "consume":
      return void (await billing.credits.consume({ customerId, unit: "credits", amount: 7 }))
  }
}

const ID = /[a-z]{3}_[0-9a-z]{26}(?![0-9a-z])/g

/** Text in which each id is the number of its first appearance. */
const withoutIds = (text: string): string => {
  const numbers = new Map<string, number>()
  return text.replaceAll(ID, (id) => {
    const number = numbers.get(id) ?? numbers.size
    numbers.set(id, number)
    return `id${number}`
  })
}

const toText = (value: unknown): string =>
  JSON.stringify(value, (_, field) => (typeof field === "bigint" ? `${field}n` : field))

const all = async (list: AsyncIterable<unknown>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for await (const one of list) found.push(toText(one))
  return found.reverse()
}

export const eventIdsOf = async (calls: BillingCalls): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>()
  for await (const { id } of calls.events.list()) ids.add(id)
  return ids
}

/** Everything of a customer, and the events that are not known yet. */
export const pictureOf = async (calls: BillingCalls, customerId: string, known: ReadonlySet<string>) => {
  const events: Array<string> = []
  for await (const { data, id, timestamp, type } of calls.events.list())
    if (!known.has(id)) events.push(toText({ type, timestamp, data }))
  const parts = [
    ...(await all(calls.subscriptions.list({ customerId }))),
    ...(await all(calls.invoices.list({ customerId }))),
    ...(await all(calls.creditNotes.list({ customerId }))),
    ...(await all(calls.payments.list({ customerId }))),
    ...(await all(calls.credits.entries({ customerId }))),
    ...(await all(calls.invoiceItems.list({ customerId }))),
    ...events.reverse(),
  ]
  return withoutIds(parts.join("\n")).split("\n")
}
