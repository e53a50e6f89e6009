/**
 * A world with a provider, and what a test sees of its payments.
 */
import {
  BillingRuns,
  type Customer,
  type FakeOutcome,
  type FakeProvider,
  Invoices,
  PaymentMethods,
  Payments,
  type PaymentProvider,
  Plans,
  type ProviderCall,
  type ProviderFault,
  Subscriptions,
} from "@billwright/core"
import { problemsOfPayments, problemsOfSums } from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, newCustomer, NOON } from "../world.ts"

export const PLAN = {
  key: "base",
  name: "Base",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
} as const

/** A customer in Berlin with a subscription, whose first invoice of 20.00 is due to be issued. */
export const subscribe = Effect.gen(function* () {
  yield* (yield* Plans).push({ plans: [PLAN] })
  const customer = yield* newCustomer({ timezone: "Europe/Berlin" })
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "base" })
  return customer
})

/** Does what is due, on the way to an instant when it is due. */
export const advanceTo = Effect.fnUntraced(function* (target: DateTime.Utc) {
  const runs = yield* BillingRuns
  for (;;) {
    const next = yield* runs.nextDueAt
    if (Option.isNone(next) || DateTime.isGreaterThan(next.value, target)) break
    const now = yield* DateTime.now
    yield* TestClock.setTime(Math.max(now.epochMilliseconds, next.value.epochMilliseconds))
    yield* runs.runDue()
  }
  yield* TestClock.setTime(target.epochMilliseconds)
})

export const inHours = (hours: number) => DateTime.add(NOON, { hours })
export const SOON = inHours(1)

/** The first invoice and its payments, which must agree with each other and with what the provider took. */
export const look = Effect.fnUntraced(function* (provider: FakeProvider) {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  const invoice = data.at(-1)!
  const payments = (yield* (yield* Payments).list({ invoiceId: invoice.id })).data
  assert.deepStrictEqual(problemsOfSums(invoice), [])
  assert.deepStrictEqual(problemsOfPayments(invoice, payments), [])
  for (const { charges } of provider.payments) assert.isAtMost(charges, 1)
  const booked = payments
    .filter(({ provider: by, status }) => by === "fake" && status === "succeeded")
    .map(({ amount, reference }) => [reference, amount])
  const taken = provider.payments
    .filter(({ charges, invoiceId }) => charges === 1 && invoiceId === invoice.id)
    .map(({ amount, reference }) => [reference, amount])
  return { invoice, payments, booked, taken }
})

type Card = Parameters<NonNullable<FakeProvider["methods"]>["save"]>[1]

/** A method that a customer has saved. */
export const save = Effect.fnUntraced(function* (
  fake: FakeProvider,
  customerId: Customer.CustomerId,
  card: Card = {},
) {
  const methods = yield* PaymentMethods
  const { id } = yield* methods.create({ customerId })
  const { paymentMethod } = yield* methods.startSetup(id)
  fake.methods!.save(paymentMethod.setupReference!, card)
  return yield* methods.refresh(id)
})

export const events = Effect.gen(function* () {
  const { events: all } = yield* (yield* MemoryInspector).snapshot
  return all.map(({ event }) => ({
    at: DateTime.formatIso(event.timestamp),
    type: event.type,
    ...JSON.parse(event.payload),
  }))
})
export const typesOf = Effect.map(events, (all) =>
  all.map(({ type }) => type as string).filter((type) => /^payment|paid|exhausted/.test(type)),
)

/** Runs a test with a provider. */
export const withProvider =
  (provider: PaymentProvider) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    inWorld({ payments: provider })(test)

/** Faults in the order of the calls of each kind. */
export const script = (faults: Partial<Record<ProviderCall, ReadonlyArray<ProviderFault | undefined>>>) => {
  const left = new Map(Object.entries(faults).map(([call, each]) => [call, [...each]]))
  return (call: ProviderCall): ProviderFault | undefined => left.get(call)?.shift()
}
/** Outcomes in the order of new attempts. After them, attempts succeed. */
export const outcomes = (...each: ReadonlyArray<FakeOutcome>) => {
  const left = [...each]
  return (): FakeOutcome => left.shift() ?? { status: "succeeded" }
}
export const declined = (code: string): FakeOutcome => ({
  status: "declined",
  code,
  advice: null,
  notBefore: null,
})
