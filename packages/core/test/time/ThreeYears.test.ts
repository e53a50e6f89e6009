import { BillingRuns, type Customer, type Invoice, Subscriptions, Usage } from "@billwright/core"
import { problemsOfLines, problemsOfSums } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allEvents, allInvoices, inYears, pushPro, use } from "./billing.ts"

const millis = (text: string): number => at(text).epochMilliseconds
const iso = (instant: number | null): string | null =>
  instant === null ? null : DateTime.formatIso(DateTime.makeUnsafe(instant))

/** When it starts: the end of a month, so that boundaries are clamped. */
const START = "2026-01-31T12:00:00.000Z"
const END = "2029-01-31T14:00:00.000Z"

/** The boundaries of three years, the start first. */
const BOUNDARIES = Array.from({ length: 37 }, (_, k) => {
  const month = new Date(Date.UTC(2026, k + 1, 0))
  return `${month.toISOString().slice(0, 8)}${String(Math.min(31, month.getUTCDate())).padStart(2, "0")}T12:00:00.000Z`
})
const later = (text: string, milliseconds: number): string =>
  DateTime.formatIso(DateTime.add(at(text), { milliseconds }))
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The calls of each period, and what they cost in cents: computed without the engine. */
const CALLS = Array.from({ length: 36 }, (_, k) => (k * 1_777) % 7_919)
const cents = (calls: number): bigint => {
  const billed = Math.max(0, calls - 100)
  const tenths =
    Math.min(billed, 1_000) * 10 +
    Math.min(Math.max(billed - 1_000, 0), 4_000) * 5 +
    Math.max(billed - 5_000, 0) * 2
  // Halves are rounded up.
  return BigInt(Math.floor((tenths + 5) / 10))
}

/** The number of an invoice within its year: the first of 2026 is in January, and those of December 31 are issued then. */
const numberIn = (k: number): string => {
  const year = BOUNDARIES[k]!.slice(0, 4)
  const place = BOUNDARIES.slice(0, k + 1).filter((boundary) => boundary.startsWith(year)).length
  return String(place).padStart(4, "0")
}

/** What is the same in every world. */
const withoutIds = (invoice: Invoice.Invoice) => ({
  number: invoice.number,
  total: invoice.total,
  lines: invoice.lines.map((line) => ({ ...line, origin: null })),
  issuedAt: invoice.issuedAt,
  steps: invoice.steps,
})

/** Records calls of an instant in the past. */
const useAt = Effect.fnUntraced(function* (customer: Customer.Customer, quantity: number, timestamp: string) {
  const usage = yield* Usage
  const input = { customerId: customer.id, productId: "api", unit: "call", quantity }
  return yield* usage.record({ ...input, timestamp: at(timestamp) })
})

/** Begins a subscription, and gives its customer. */
const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  return { customer, subscription }
})

/** Three years with usage on the tenth day of each period, with further stops of the clock. */
const threeYears = Effect.fnUntraced(function* (stops: ReadonlyArray<number> = []) {
  const { customer, subscription } = yield* begin
  const uses = new Map(CALLS.map((calls, k) => [millis(BOUNDARIES[k]!) + 10 * DAY, calls] as const))
  const instants = [...uses.keys(), ...stops, millis(END)].toSorted((a, b) => a - b)
  for (const instant of instants) {
    yield* advanceTo(instant)
    const calls = uses.get(instant)
    if (calls !== undefined && calls > 0) yield* use(customer, calls)
  }
  return { customer, subscription, invoices: yield* allInvoices, events: yield* allEvents }
})

describe("three years of a monthly plan with a fee and graduated usage", () => {
  it.effect("have the exact money", () =>
    Effect.gen(function* () {
      const { customer, invoices, subscription } = yield* threeYears()
      assert.lengthOf(invoices, 37)
      for (const [k, invoice] of invoices.entries()) {
        assert.deepStrictEqual(problemsOfSums(invoice), [])
        assert.deepStrictEqual(problemsOfLines(invoice), [])
        assert.strictEqual(invoice.customerId, customer.id)
        assert.strictEqual(invoice.subscriptionId, subscription.id)
        assert.strictEqual(invoice.status, "open")
        assert.strictEqual(invoice.number, `${BOUNDARIES[k]!.slice(0, 4)}-${numberIn(k)}`)
        assert.deepStrictEqual(
          invoice.lines.map(({ amount, charge, kind, periodEnd, periodStart, quantity }) => ({
            amount,
            charge,
            kind,
            periodStart: iso(periodStart),
            periodEnd: iso(periodEnd),
            quantity,
          })),
          [
            ...(k === 0
              ? []
              : [
                  {
                    amount: cents(CALLS[k - 1]!),
                    charge: "calls",
                    kind: "usage" as const,
                    periodStart: BOUNDARIES[k - 1]!,
                    periodEnd: BOUNDARIES[k]!,
                    quantity: String(CALLS[k - 1]!),
                  },
                ]),
            {
              amount: 2_000n,
              charge: "base",
              kind: "advance" as const,
              periodStart: BOUNDARIES[k]!,
              periodEnd: BOUNDARIES[k + 1] ?? "2029-02-28T12:00:00.000Z",
              quantity: null,
            },
          ],
        )
        assert.strictEqual(invoice.total, 2_000n + (k === 0 ? 0n : cents(CALLS[k - 1]!)))
        assert.strictEqual(invoice.amountDue, invoice.total)
        assert.strictEqual(iso(invoice.issuedAt), later(BOUNDARIES[k]!, k === 0 ? 0 : HOUR))
      }
    }).pipe(inYears(millis(START))),
  )

  it.effect("have the exact list of events", () =>
    Effect.gen(function* () {
      const { events } = yield* threeYears()
      const overdue = events.filter((event) => event.endsWith("invoice.overdue"))
      assert.lengthOf(overdue, BOUNDARIES.length - 1)
      const others = events.filter((event) => !overdue.includes(event))
      assert.deepStrictEqual(others, [
        `${START} subscription.created`,
        `${START} invoice.created`,
        `${START} subscription.activated`,
        `${START} invoice.finalized`,
        ...BOUNDARIES.slice(1).flatMap((boundary) => [
          `${boundary} invoice.created`,
          `${boundary} subscription.renewed`,
          `${later(boundary, HOUR)} invoice.finalized`,
        ]),
      ])
    }).pipe(inYears(millis(START))),
  )

  it.effect(
    "J8: are the same with any stops on the way",
    () =>
      holdsEffect(
        fc.array(fc.integer({ min: millis(START), max: millis(END) }), { maxLength: 20 }),
        (stops) =>
          Effect.gen(function* () {
            const whole = yield* threeYears().pipe(inYears(millis(START)))
            const cut = yield* threeYears(stops).pipe(inYears(millis(START)))
            assert.deepStrictEqual(cut.events, whole.events)
            assert.deepStrictEqual(cut.invoices.map(withoutIds), whole.invoices.map(withoutIds))
          }),
        3,
      ),
    // Six times three years, of which each takes some hundred milliseconds when nothing else runs.
    60_000,
  )

  it.effect("have the same amounts when one run does all of it, years later", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin
      const runs = yield* BillingRuns
      for (const [k, calls] of CALLS.entries()) {
        yield* TestClock.setTime(millis(BOUNDARIES[k]!) + 10 * DAY)
        if (calls > 0) yield* use(customer, calls)
      }
      yield* TestClock.setTime(millis(END))
      assert.deepStrictEqual(yield* runs.runDue(), {
        subscriptions: 36,
        invoices: 37,
        failed: 0,
        hasMore: false,
      })
      const invoices = yield* allInvoices
      assert.deepStrictEqual(
        invoices.map(({ total }) => total),
        BOUNDARIES.map((_, k) => 2_000n + (k === 0 ? 0n : cents(CALLS[k - 1]!))),
      )
      assert.deepStrictEqual([...new Set(invoices.map(({ issuedAt }) => iso(issuedAt)))], [END])
    }).pipe(inYears(millis(START))),
  )
})

describe("late usage", () => {
  it.effect("is on the draft within the grace, and an adjustment on the next invoice after it", () =>
    Effect.gen(function* () {
      const { customer } = yield* begin
      yield* advanceTo(millis("2026-02-10T00:00:00.000Z"))
      yield* use(customer, 200)
      yield* advanceTo(millis("2026-02-28T12:30:00.000Z"))
      const usage = yield* useAt(customer, 50, "2026-02-20T00:00:00.000Z")
      assert.strictEqual(usage._tag, "Recorded")
      yield* advanceTo(millis("2026-03-01T00:00:00.000Z"))
      const [, second] = yield* allInvoices
      assert.deepStrictEqual(
        second!.lines.map(({ amount, kind, quantity }) => ({ amount, kind, quantity })),
        [
          { amount: 150n, kind: "usage", quantity: "250" },
          { amount: 2_000n, kind: "advance", quantity: null },
        ],
      )
      yield* useAt(customer, 100, "2026-02-21T00:00:00.000Z")
      yield* advanceTo(millis("2026-04-01T00:00:00.000Z"))
      const [, , third] = yield* allInvoices
      assert.deepStrictEqual(
        third!.lines.map(({ amount, kind, periodEnd, quantity }) => ({
          amount,
          kind,
          quantity,
          periodEnd: iso(periodEnd),
        })),
        [
          { amount: 100n, kind: "adjustment", quantity: "350", periodEnd: BOUNDARIES[1]! },
          { amount: 0n, kind: "usage", quantity: "0", periodEnd: BOUNDARIES[2]! },
          { amount: 2_000n, kind: "advance", quantity: null, periodEnd: BOUNDARIES[3]! },
        ],
      )
    }).pipe(inYears(millis(START))),
  )
})
