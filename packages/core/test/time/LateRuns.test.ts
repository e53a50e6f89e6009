/**
 * J8 with items: an invoice has the same amounts, whenever billing runs.
 */
import { BillingRuns, DueStore, InvoiceItems, Plans, Subscriptions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears, pro, pushPro, use } from "./billing.ts"

const START = at("2026-01-31T12:00:00Z")
const END = DateTime.add(START, { months: 4, days: 1 }).epochMilliseconds

/** What is done at an hour after the start. */
interface Act {
  readonly hours: number
  readonly amount: bigint
  readonly usage: number
}

const act: fc.Arbitrary<Act> = fc.record({
  hours: fc.integer({ min: 1, max: 24 * 95 }),
  amount: fc.bigInt({ min: -7_000n, max: 2_000n }).filter((amount) => amount !== 0n),
  usage: fc.integer({ min: 1, max: 2_000 }),
})

/** The totals and items of the invoices, when billing runs as soon as something is due, or once at the end. */
const billed = (acts: ReadonlyArray<Act>, graceHours: number, isLate: boolean) =>
  Effect.gen(function* () {
    yield* pushPro
    const policy = { grace_hours: graceHours }
    yield* (yield* Plans).push({ plans: [{ ...pro, policy }] })
    const customer = yield* newCustomer()
    yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
    const items = yield* InvoiceItems
    for (const { amount, hours, usage } of acts.toSorted((a, b) => a.hours - b.hours)) {
      const instant = DateTime.add(START, { hours }).epochMilliseconds
      yield* isLate ? TestClock.setTime(instant) : advanceTo(instant)
      yield* items.create({ customerId: customer.id, currency: "EUR", amount, description: "Item" })
      yield* use(customer, usage)
    }
    yield* isLate ? TestClock.setTime(END) : advanceTo(END)
    yield* (yield* BillingRuns).runDue()
    return (yield* allInvoices).map(({ lines, status, total }) => [
      status,
      total,
      lines.filter(({ kind }) => kind === "item").map(({ amount }) => amount),
    ])
  }).pipe(inYears(START.epochMilliseconds), Effect.provide(TestClock.layer()))

describe("a run that is months late", () => {
  it.effect.each([1, 100, 720])(
    "gives invoices the same items as runs on time, with credits larger than an invoice and %s hours of grace",
    (graceHours) =>
      holdsEffect(
        fc.array(act, { minLength: 1, maxLength: 4 }),
        (acts) =>
          Effect.gen(function* () {
            const late = yield* billed(acts, graceHours, true)
            assert.deepStrictEqual(late, yield* billed(acts, graceHours, false))
          }),
        6,
      ),
    60_000,
  )
})

const FIRST_GRACE = DateTime.add(START, { hours: 1 }).epochMilliseconds
const SECOND_MONTH = at("2026-02-28T12:00:00Z").epochMilliseconds
const LATE = at("2026-04-01T12:00:00Z")

/** A draft of the second month, whose item is more than it comes to, and then nothing runs until a month later. */
const withLargeCredit = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const { id } = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(FIRST_GRACE)
  const item = { customerId: customer.id, currency: "EUR", amount: -3_000n, description: "Sorry" }
  yield* (yield* InvoiceItems).create(item)
  yield* advanceTo(SECOND_MONTH)
  yield* TestClock.setTime(LATE.epochMilliseconds)
  return id
})

const TOTALS = [2_000n, 0n, 1_000n]
const totals = Effect.map(allInvoices, (all) => all.slice(0, 3).map(({ total }) => total))

describe("what an invoice leaves of a credit", () => {
  it.effect("is on the next one, when another runner holds the first", () =>
    Effect.gen(function* () {
      yield* withLargeCredit
      const leaseUntil = DateTime.add(LATE, { minutes: 2 })
      const claimed = yield* (yield* DueStore).claimDue({ lane: "billing", now: LATE, leaseUntil, limit: 1 })
      assert.deepStrictEqual(
        claimed.map(({ subject }) => subject.kind),
        ["invoice"],
      )
      yield* (yield* BillingRuns).runDue()
      yield* TestClock.setTime(DateTime.add(LATE, { minutes: 10 }).epochMilliseconds)
      yield* (yield* BillingRuns).runDue()
      assert.deepStrictEqual(yield* totals, TOTALS)
    }).pipe(inYears(START.epochMilliseconds)),
  )

  it.effect("is on the next one, when a command comes before a late run", () =>
    Effect.gen(function* () {
      const id = yield* withLargeCredit
      yield* (yield* Subscriptions).cancel(id, { at: "period_end" })
      yield* (yield* BillingRuns).runDue()
      yield* TestClock.setTime(DateTime.add(LATE, { hours: 2 }).epochMilliseconds)
      yield* (yield* BillingRuns).runDue()
      assert.deepStrictEqual(yield* totals, TOTALS)
    }).pipe(inYears(START.epochMilliseconds)),
  )
})
