/**
 * Scenarios of billing: the services over a storage, a clock that stops where something is due, and what a customer
 * and a receiver of webhooks see of it.
 */
import {
  AuditedStores,
  AuditTrail,
  BillingRuns,
  Credits,
  type CurrentTenant,
  Customers,
  Entitlements,
  ErasedCredits,
  IdGenerator,
  type Customer,
  Invoices,
  type Invoice,
  Meters,
  MoneyCredits,
  Outbox,
  type Plan,
  Plans,
  Resources,
  SubscriptionDrafts,
  Subscriptions,
  GrantRun,
  TopUpRun,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { emptyQueue } from "../contract/DueContract.ts"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { listEvents } from "../contract/WebhookProbe.ts"
import { auditProblems } from "./AuditedWorld.ts"

type PlanDefinition = Plan.PushPlans["plans"][number]

/** An instant as scenarios write it: `2026-01-11`, or with a time of UTC: `2026-01-11T12:00`. */
export const at = (text: string): DateTime.Utc =>
  DateTime.toUtc(DateTime.makeUnsafe(text.includes("T") ? `${text}:00Z` : `${text}T00:00:00Z`))

/** 10.00 a month, 5.00 for each seat, and 0.01 for each call, without a grace. */
export const basic: PlanDefinition = {
  key: "basic",
  name: "Basic",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "10.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } },
  ],
  policy: { grace_hours: 0 },
}

/** 31.00 a month, 6.20 for each seat, and calls that cost half. */
const pro: PlanDefinition = {
  ...basic,
  key: "pro",
  name: "Pro",
  charges: [
    { key: "base", model: "flat", price: { EUR: "31.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "6.20" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.005" } },
  ],
}

/** 310.00 a year, and nothing else. */
const yearly: PlanDefinition = {
  ...basic,
  key: "yearly",
  name: "Yearly",
  interval: { unit: "year", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "310.00" } }],
}

/** The services of billing. Nothing in them wakes by itself, because the clock goes over months at once. */
const billing = Layer.mergeAll(
  Credits.layer,
  BillingRuns.layerManual,
  Invoices.layer,
  Plans.layer,
  Resources.layer.pipe(Layer.provide(ErasedCredits.layer)),
  Subscriptions.layer,
  Entitlements.layer.pipe(Layer.provideMerge(Usage.layerWith({}))),
).pipe(
  Layer.provide(SubscriptionDrafts.layer),
  Layer.provideMerge(MoneyCredits.layer),
  Layer.provideMerge(TopUpRun.layer),
  Layer.provideMerge(GrantRun.layer),
  Layer.provideMerge(Outbox.layer),
)

const services = billing.pipe(Layer.provideMerge(AuditedStores.layer), Layer.provideMerge(AuditTrail.layer))

/** Services and ids of another process on the same storage. If its clock is behind, so are its ids. */
const otherProcess = billing.pipe(Layer.provide(IdGenerator.layer))

/** Does something in another process. */
export const elsewhere = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof billing> | CurrentTenant>) =>
  Effect.provide(effect, otherProcess, { local: true })

/** Registers a scenario. It begins on 2026-01-01 with a meter and the plans `basic`, `pro` and `yearly`. */
export const scenario = (
  test: InvoicingTest,
  name: string,
  body: Effect.Effect<
    unknown,
    unknown,
    Layer.Success<typeof services> | Effect.Services<Parameters<InvoicingTest>[1]>
  >,
): void => {
  const begin = Effect.gen(function* () {
    yield* emptyQueue
    yield* TestClock.setTime(at("2026-01-01").epochMilliseconds)
    yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
    yield* (yield* Plans).push({ plans: [basic, pro, yearly] })
  })
  // A clock of its own: what the storage does by itself would wake at all the instants that this one goes over.
  const world = Layer.merge(services, TestClock.layer())
  const audited = Effect.map(auditProblems, (problems) => assert.deepStrictEqual(problems, []))
  test(name, Effect.provide(Effect.andThen(Effect.andThen(begin, body), audited), world))
}

export const newCustomer = Effect.flatMap(Customers, ({ create }) =>
  create({ name: "Ada Lovelace", email: "ada@example.com" }),
)

/** A new customer with a subscription of `basic` with two seats, that starts now without a trial. */
export const subscribed = Effect.gen(function* () {
  const customer = yield* newCustomer
  const { create } = yield* Subscriptions
  const { id } = yield* create({ customerId: customer.id, plan: "basic", quantities: { seats: "2" } })
  return { customer, id }
})

/** Moves the clock to an instant, and does what is due on the way when it is due. */
export const until = Effect.fnUntraced(function* (text: string) {
  const runs = yield* BillingRuns
  const target = at(text).epochMilliseconds
  for (;;) {
    const next = yield* runs.nextDueAt
    const now = yield* DateTime.now
    if (Option.isNone(next) || next.value.epochMilliseconds > target) break
    yield* TestClock.setTime(Math.max(now.epochMilliseconds, next.value.epochMilliseconds))
    yield* runs.runDue()
  }
  yield* TestClock.setTime(target)
})

/** Records calls of a customer now. */
export const use = (
  { id }: Customer.Customer,
  quantity: number,
): Effect.Effect<void, never, CurrentTenant | Usage> =>
  Effect.flatMap(Usage, ({ record }) =>
    Effect.orDie(record({ customerId: id, productId: "api", unit: "call", quantity })),
  )

/** Records calls of a customer at an instant of the past, and gives the record. */
export const useAt = (
  { id }: Customer.Customer,
  quantity: number,
  timestamp: string,
): Effect.Effect<UsageRecord.UsageRecord, never, CurrentTenant | Usage> =>
  Effect.flatMap(Usage, ({ record }) =>
    record({ customerId: id, productId: "api", unit: "call", quantity, timestamp: at(timestamp) }),
  ).pipe(
    Effect.orDie,
    Effect.map(({ record }) => record),
  )

/** `2026-01-11`, or `2026-01-11T12:00` where it is not midnight. */
const short = (instant: string): string => instant.slice(0, 16).replace("T00:00", "")

const shortOf = (instant: number): string => short(DateTime.formatIso(DateTime.makeUnsafe(instant)))

const amountText = (amount: bigint): string => {
  const cents = String(amount < 0n ? -amount : amount).padStart(3, "0")
  return `${amount < 0n ? "-" : ""}${cents.slice(0, -2)}.${cents.slice(-2)}`
}

/** An invoice in a line: when it was issued, its total, and its lines with their kinds and the days that they bill. */
export const inShort = ({
  issuedAt,
  lines,
  total,
}: Pick<Invoice.Invoice, "issuedAt" | "lines" | "total">): ReadonlyArray<string> => [
  `${issuedAt === null ? "draft" : shortOf(issuedAt)} ${amountText(total)}`,
  ...lines.map(({ amount, charge, kind, periodEnd, periodStart, quantity }) => {
    const units = quantity === null ? "" : ` × ${quantity}`
    return `${kind} ${charge}${units} ${shortOf(periodStart!)} ${shortOf(periodEnd!)} ${amountText(amount)}`
  }),
]

/** All invoices, oldest first, in short. */
export const billed = Effect.gen(function* () {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  return data.toReversed().map(inShort)
})

/** The data of an event, as far as scenarios read it. */
interface Told {
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly previous?: unknown }
}

/** All events but those of due dates, oldest first: when, what, and of an update the values before. */
export const told = Effect.gen(function* () {
  const { data } = yield* Effect.orDie(listEvents())
  return data.toReversed().flatMap(({ payload }) => {
    const { data: of, timestamp, type } = JSON.parse(payload) as Told
    const previous = of.previous === undefined ? "" : ` ${JSON.stringify(of.previous)}`
    return type === "invoice.overdue" ? [] : [`${short(timestamp)} ${type}${previous}`]
  })
})
