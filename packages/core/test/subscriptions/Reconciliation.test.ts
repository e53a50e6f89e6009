import { BillingRuns, Invoices, Plans, SpendAlerts, Subscriptions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inYears, pro, pushPro, use } from "../time/billing.ts"
import { at, newCustomer } from "../world.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds
/** More than the invoices that are read at once. */
const CHANGES = 101

const seats = { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } } as const
const withSeats = { ...pro, key: "seated", charges: [...pro.charges, seats] }

describe("an invoice of the usage so far", () => {
  it.effect("is made again in a period in which changes made many invoices since", () =>
    Effect.gen(function* () {
      yield* pushPro
      yield* (yield* Plans).push({ plans: [withSeats] })
      const customer = yield* newCustomer()
      const { change, create } = yield* Subscriptions
      const { runDue } = yield* BillingRuns
      const { id: customerId } = customer
      const { id: subscriptionId } = yield* create({ customerId, plan: "seated", quantities: { seats: "1" } })
      yield* (yield* SpendAlerts).create({
        customerId,
        subscriptionId,
        currency: "EUR",
        amount: 100n,
        repeat: "multiples",
        action: "invoice",
      })
      const useAndBill = Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        yield* use(customer, 200)
        yield* runDue()
      })
      yield* useAndBill
      for (let seat = 2; seat <= CHANGES + 1; seat++) {
        yield* TestClock.adjust("1 hour")
        yield* change(subscriptionId, { quantities: { seats: String(seat) }, at: "now" })
        yield* runDue()
      }
      yield* useAndBill
      const { data } = yield* (yield* Invoices).list({ subscriptionId, limit: 100 })
      const [newest] = data
      assert.deepStrictEqual(
        newest!.lines.map(({ amount, charge, kind }) => [kind, charge, amount]),
        [["adjustment", "calls", 200n]],
      )
    }).pipe(inYears(START)),
  )
})
