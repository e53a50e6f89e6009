/**
 * A year of the company, told day by day: customers come and go, use, are billed, and pay or don't. Nothing of it is
 * random, so the same year has the same amounts.
 */
import {
  Billing,
  BillingRuns,
  Coupons,
  CreditNotes,
  Credits,
  CurrentTenant,
  type Customer,
  Customers,
  FixedClock,
  Invoices,
  LANES,
  Meters,
  Payments,
  Plans,
  Refunds,
  SpendAlerts,
  type StorageError,
  Subscriptions,
  type Tenant,
  Usage,
} from "@billwright/core"
import { EU_COUNTRIES, EU_STANDARD_RATES } from "@billwright/engine"
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import { makeCards } from "./Cards.ts"
import * as Company from "./Company.ts"

const DAYS = 365
const DAY_MILLIS = 86_400_000
/** How many days after the subscription a story turns. */
const GROWS = 66
const LEAVES = 70
const PAUSES = 140
/** How long a bank transfer takes, in days, and for how long no more of the story `owes` came. */
const TRANSFER = 10
const OWES = 64
/** How often somebody reads the statements of the bank, in days. */
const WEEK = 7
/** How often spend alerts are looked at, in days. */
const SPEND_CHECK = 14

/** A customer of the year. */
interface Member {
  readonly client: Company.Client
  readonly customerId: Customer.CustomerId
  readonly subscriptionId: string
}

/** What was told of a year so far. */
export interface Told {
  readonly day: number
  readonly customers: number
  readonly records: number
}

/** How many days ago a customer came, on a day. */
const ageOf = ({ daysAgo }: Company.Client, day: number): number => day - (DAYS - daysAgo)

/** Whether it uses anything. Who has paused or canceled doesn't. */
const isUsing = ({ story }: Company.Client, age: number): boolean =>
  !(story === "left" && age > LEAVES) && !(story === "paused" && age > PAUSES)

/** From the name, so that customers differ, and a year is always the same. */
const shiftOf = ({ name }: Company.Client): number => name.length % 7

/** How much a customer uses on a day: less at weekends, and more with the time. */
const usageOf = (client: Company.Client, day: number, weekday: number): number => {
  const weekend = weekday === 0 || weekday === 6 ? 4 : 10
  const wave = 80 + ((day * 13 + shiftOf(client) * 31) % 41)
  const growth = 100 + Math.floor(ageOf(client, day) / 3)
  return Math.floor((client.requests * weekend * wave * growth) / 100_000)
}

const recordsOf = ({ client, customerId }: Member, day: number, weekday: number) => {
  if (!isUsing(client, ageOf(client, day))) return []
  const quantity = usageOf(client, day, weekday)
  const requests = { customerId, productId: "maps", unit: "request", quantity }
  if (client.plan === "starter") return [requests]
  const dimensions = { model: (day + shiftOf(client)) % 3 === 0 ? "large" : "small" }
  return [
    requests,
    { customerId, productId: "assistant", unit: "token", quantity: quantity * 37, dimensions },
  ]
}

const hasCard = ({ story }: Company.Client): boolean => story !== "pays_by_transfer" && story !== "owes"

/** What is sold: meters, plans and a coupon. */
const openShop = Effect.gen(function* () {
  const meters = yield* Meters
  for (const meter of Company.METERS) yield* meters.create(meter)
  yield* (yield* Plans).push({ plans: Company.PLANS })
  yield* (yield* Coupons).create({
    code: "WELCOME20",
    name: "20 % off for three months",
    percent: "20",
    duration: "periods",
    periods: 3,
  })
})

/** The first of the next month, as a local date. */
const nextMonth = Effect.map(DateTime.now, (now) =>
  DateTime.formatIsoDateUtc(DateTime.startOf(DateTime.add(now, { months: 1 }), "month")),
)

const welcome = Effect.fnUntraced(function* (
  client: Company.Client,
  place: number,
  save: ReturnType<typeof makeCards>["save"],
) {
  const currency = Company.currencyOf(client)
  const customer = yield* (yield* Customers).create({
    name: client.name,
    email: Company.emailOf(client),
    country: client.country,
    currency,
    ...(client.taxId === undefined ? {} : { taxId: client.taxId }),
    metadata: { industry_code: String(100 + ((place * 37) % 900)) },
  })
  if (hasCard(client)) yield* save(customer.id, client.story)
  const subscription = yield* (yield* Subscriptions).create({
    customerId: customer.id,
    plan: client.plan,
    currency,
    timezone: Company.TIMEZONE,
    ...(client.plan === "scale" ? {} : { anchor: yield* nextMonth }),
    ...(client.plan === "team" ? { quantities: { seats: String(client.seats) } } : {}),
    ...(place % 6 === 5 ? { coupon: "WELCOME20" } : {}),
  })
  if (place % 9 === 4) {
    yield* (yield* Credits).grant({
      customerId: customer.id,
      unit: currency,
      kind: place % 2 === 0 ? "promotional" : "paid",
      amount: 2_500n * BigInt(1 + (place % 4)),
    })
  }
  if (place % 8 === 3) {
    yield* (yield* SpendAlerts).create({ customerId: customer.id, currency, amount: 10_000n })
  }
  return { client, customerId: customer.id, subscriptionId: subscription.id }
})

/** What customers do by themselves on a day. */
const live = Effect.fnUntraced(function* ({ client, subscriptionId }: Member, age: number) {
  const subscriptions = yield* Subscriptions
  if (client.story === "grew" && age === GROWS && client.plan === "starter") {
    const quantities = { seats: String(client.seats) }
    yield* subscriptions.change(subscriptionId, { plan: "team", quantities, at: "now" })
  }
  if (client.story === "grew" && age === GROWS && client.plan === "team") {
    const quantities = { seats: String(client.seats + 5) }
    yield* subscriptions.change(subscriptionId, { quantities, at: "now" })
  }
  if (client.story === "left" && age === LEAVES)
    yield* subscriptions.cancel(subscriptionId, { at: "period_end" })
  if (client.story === "paused" && age === PAUSES) yield* subscriptions.pause(subscriptionId)
})

/** Records the bank transfers of a day. */
const receiveTransfers = Effect.fnUntraced(function* (members: ReadonlyArray<Member>, daysLeft: number) {
  const [invoices, payments] = [yield* Invoices, yield* Payments]
  const before = (yield* Clock.currentTimeMillis) - TRANSFER * DAY_MILLIS
  for (const { client, customerId } of members) {
    if (hasCard(client) || (client.story === "owes" && daysLeft < OWES)) continue
    const { data } = yield* invoices.list({ customerId, status: "open", limit: 100 })
    for (const { id, issuedAt, number } of data) {
      if (issuedAt === null || issuedAt > before) continue
      yield* payments.record({ invoiceId: id, reference: `transfer for ${number}` })
    }
  }
})

/** What people do by hand: a credit note with a refund, and a refund of another payment. */
const makeAmends = Effect.fnUntraced(function* (members: ReadonlyArray<Member>) {
  const [invoices, payments] = [yield* Invoices, yield* Payments]
  const paidOf = (member: Member) =>
    Effect.map(
      Effect.all([
        invoices.list({ customerId: member.customerId, status: "paid", limit: 1 }),
        payments.list({ customerId: member.customerId, status: "succeeded", limit: 1 }),
      ]),
      ([
        {
          data: [invoice],
        },
        {
          data: [payment],
        },
      ]) => ({ invoice, payment }),
    )
  const steady = members.filter(({ client }) => client.story === "steady" && client.plan === "team")
  const [first, second] = steady
  if (first === undefined || second === undefined) return
  const { invoice } = yield* paidOf(first)
  if (invoice !== undefined && invoice.amountPaid >= 1_000n) {
    yield* (yield* CreditNotes).create({
      invoiceId: invoice.id,
      amount: 800n,
      reason: "unsatisfactory",
      refund: 800n,
    })
  }
  const { payment } = yield* paidOf(second)
  if (payment !== undefined) {
    yield* (yield* Refunds).create({ paymentId: payment.id, amount: 1_000n, reason: "unsatisfactory" })
  }
})

/** The services of the company, by a clock of its own, over a storage. */
const servicesOf = (clock: FixedClock, provider: ReturnType<typeof makeCards>["provider"]) =>
  Billing.layerWith({
    payments: provider,
    invoices: {
      timezone: Company.TIMEZONE,
      tax: {
        behavior: "exclusive",
        seller: Company.SELLER_COUNTRY,
        rates: EU_STANDARD_RATES,
        union: EU_COUNTRIES,
      },
    },
  }).pipe(Layer.provideMerge(clock.layer))

/** Does what is due by now. Spend alerts are not looked at: rating all usage anew each day would take most of the time. */
const settle = Effect.gen(function* () {
  const runs = yield* BillingRuns
  const next = yield* runs.nextDueAt
  if (Option.isNone(next) || DateTime.isGreaterThan(next.value, yield* DateTime.now)) return
  yield* Effect.forEach(LANES, (lane) => runs.runDue({ lane }), { concurrency: "unbounded" })
})

/**
 * Tells the year that ends at an instant, for a tenant of an empty store. `onDay` is called after each day. It takes what is due
 * in the whole store for its own, so nothing else may be in it, and no server may run on it.
 */
export const tell = (
  end: DateTime.Utc,
  tenant: Tenant.Tenant,
  onDay: (told: Told) => Effect.Effect<void>,
): Effect.Effect<Told, StorageError, Billing.Storage> => {
  const endMillis = end.epochMilliseconds
  const clock = new FixedClock(endMillis - DAYS * DAY_MILLIS)
  const cards = makeCards(clock, endMillis)

  const year = Effect.gen(function* () {
    yield* openShop
    const usage = yield* Usage
    const { checkSpend } = yield* BillingRuns
    const members: Array<Member> = []
    const told = { day: 0, customers: 0, records: 0 }
    for (let day = 1; day <= DAYS; day++) {
      clock.moveTo(endMillis - (DAYS - day) * DAY_MILLIS)
      yield* settle
      for (const [place, client] of Company.CLIENTS.entries()) {
        if (client.daysAgo === DAYS - day) members.push(yield* welcome(client, place, cards.save))
      }
      for (const member of members) yield* live(member, ageOf(member.client, day))
      if (day % WEEK === 0) yield* receiveTransfers(members, DAYS - day)
      const records = members.flatMap((member) => recordsOf(member, day, new Date(clock.millis).getUTCDay()))
      if (records.length > 0) yield* usage.recordBatch({ records })
      if (day % SPEND_CHECK === 0 || day === DAYS) yield* checkSpend
      told.day = day
      told.customers = members.length
      told.records += records.length
      yield* onDay(told)
    }
    yield* makeAmends(members)
    yield* settle
    return told
  })
  return year.pipe(
    Effect.provide(servicesOf(clock, cards.provider)),
    Effect.provideService(CurrentTenant, tenant),
    // The story is the same each time: nothing else in it can fail.
    Effect.catch((error) => (error._tag === "StorageError" ? Effect.fail(error) : Effect.die(error))),
  )
}
