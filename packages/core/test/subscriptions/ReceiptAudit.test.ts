/**
 * Receipts of invoice lines are what the records say, or differ by usage that came or was voided since.
 */
import {
  Invoices,
  type Invoice,
  InvoiceStore,
  Meters,
  Plans,
  ReceiptAudit,
  Subscriptions,
  Transactor,
  Usage,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { advanceTo, allInvoices, inYears, pro, pushPro, use } from "../time/billing.ts"
import { at, newCustomer } from "../world.ts"

const START = at("2026-01-01T00:00:00Z")
const later = (parts: Partial<DateTime.DateTime.PartsForMath>) => DateTime.add(START, parts).epochMilliseconds

/** A subscription with two usage lines of a month, with and without a dimension, and some usage of both. */
const billed = Effect.gen(function* () {
  yield* pushPro
  const meter = { key: "tokens", productId: "llm", unit: "token", aggregation: "sum", dimensions: ["model"] }
  yield* (yield* Meters).create(meter as never)
  const tokens = {
    key: "tokens",
    model: "unit",
    meter: "tokens",
    by: "model",
    price: { EUR: "0.01" },
  } as const
  yield* (yield* Plans).push({ plans: [{ ...pro, charges: [...pro.charges, tokens] }] })
  const customer = yield* newCustomer()
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(later({ days: 3 }))
  const { record } = yield* use(customer, 500)
  yield* use(customer, 700)
  const { record: recordTokens } = yield* Usage
  const of = { customerId: customer.id, productId: "llm", unit: "token" }
  yield* recordTokens({ ...of, quantity: 30, dimensions: { model: "a" } })
  yield* recordTokens({ ...of, quantity: 40, dimensions: { model: "b" } })
  yield* recordTokens({ ...of, quantity: 50 })
  yield* advanceTo(later({ months: 1, hours: 4 }))
  return { customer, record }
})

const audited = Effect.gen(function* () {
  const { page } = yield* ReceiptAudit
  return yield* page()
})

/** Writes another receipt into the stored line of a charge. */
const plant = (charge: string, change: object) =>
  Effect.gen(function* () {
    const all = yield* allInvoices
    const invoice = all.find(({ lines }) => lines.some((line) => line.charge === charge))!
    const store = yield* InvoiceStore
    const { atomically } = yield* Transactor
    yield* atomically(
      Effect.gen(function* () {
        const stored = Option.getOrThrow(yield* store.lock(invoice.id))
        const lines = stored.state.lines.map((line) =>
          line.charge === charge && line.receipt !== null
            ? { ...line, receipt: { ...line.receipt, ...change } }
            : line,
        )
        yield* store.save({ ...stored, state: { ...stored.state, lines } })
      }),
    )
    return invoice.id
  })

const NONE_FOUND = { invoices: 2, receipts: 4, unchecked: 0, late: 0, discrepancies: [], hasMore: false }

const inWorld = inYears(START.epochMilliseconds)

describe("ReceiptAudit", () => {
  it.effect("finds nothing where receipts are what the records say", () =>
    Effect.gen(function* () {
      yield* billed
      assert.deepInclude(yield* audited, NONE_FOUND)
    }).pipe(inWorld),
  )

  it.effect("explains what differs by usage that came or was voided since", () =>
    Effect.gen(function* () {
      const { customer, record } = yield* billed
      const { record: recordUsage, voidRecord } = yield* Usage
      yield* voidRecord(record.id)
      yield* recordUsage({
        customerId: customer.id,
        productId: "llm",
        unit: "token",
        quantity: 9,
        timestamp: DateTime.add(START, { days: 9 }),
        dimensions: { model: "b" },
      })
      assert.deepInclude(yield* audited, { ...NONE_FOUND, late: 2 })
      // The next invoice bills the difference. What the first one states stays.
      yield* advanceTo(later({ months: 2, hours: 4 }))
      const { discrepancies, late } = yield* audited
      assert.deepStrictEqual([discrepancies, late], [[], 2])
    }).pipe(inWorld),
  )

  it.effect.each([
    ["calls", { recordCount: 3 }, "has another number of records"],
    ["calls", { total: "1201" }, "has another total"],
    ["calls", { meter: "tokens" }, "is of another meter"],
    ["calls", { where: { model: ["a"] } }, "has other filters"],
    ["calls", { periodStart: START.epochMilliseconds + 1 }, "is of another span"],
  ] as const)("finds a planted difference: %s %j", ([charge, change, problem]) =>
    Effect.gen(function* () {
      yield* billed
      const id = yield* plant(charge, change)
      const { discrepancies, late } = yield* audited
      assert.strictEqual(late, 0)
      assert.lengthOf(discrepancies, 1)
      const [found] = discrepancies
      assert.deepInclude(found, { invoiceId: id, problem, records: { total: "1200", recordCount: 2 } })
      const { lines }: Invoice.Invoice = yield* (yield* Invoices).get(id)
      const line = lines.find((one) => one.id === found?.lineId)
      assert.deepStrictEqual(found?.receipt, line?.receipt)
    }).pipe(inWorld),
  )

  it.effect("finds a planted difference that late usage does not explain", () =>
    Effect.gen(function* () {
      const { record } = yield* billed
      yield* plant("calls", { recordCount: 5, total: "1200" })
      yield* (yield* Usage).voidRecord(record.id)
      const { discrepancies } = yield* audited
      assert.deepStrictEqual(
        discrepancies.map(({ problem, records }) => [problem, records]),
        [["has another number of records", { total: "700", recordCount: 1 }]],
      )
    }).pipe(inWorld),
  )

  it.effect("goes through all invoices in pages, and starts after any of them", () =>
    Effect.gen(function* () {
      yield* billed
      yield* advanceTo(later({ months: 24, hours: 4 }))
      const { page } = yield* ReceiptAudit
      const first = yield* page()
      assert.deepInclude(first, { invoices: 20, hasMore: true })
      const second = yield* page({ startingAfter: first.last! })
      assert.deepInclude(second, { invoices: 5, hasMore: false })
      const problem = yield* Effect.flip(page({ startingAfter: "inv_01kb2r9d3vffx9qd6k4v2n1h7c" as never }))
      assert.deepInclude(problem, { _tag: "InvalidInput", field: "startingAfter" })
    }).pipe(inWorld),
  )
})
