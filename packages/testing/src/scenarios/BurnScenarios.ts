/**
 * Usage that burns credits: when, of which grants, and how late usage, voids and changes of plan correct it.
 */
import {
  BillingRuns,
  Credits,
  type Customer,
  Customers,
  Invoices,
  Plans,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, basic, elsewhere, newCustomer, scenario, until, use, useAt } from "./Scenario.ts"

/** A call burns 3 credits, beyond 10 calls. Each period has 100 credits. */
const burning = {
  ...basic,
  key: "burning",
  charges: [
    {
      key: "calls",
      model: "unit" as const,
      meter: "calls",
      free: "10",
      burns: "credits",
      price: { credits: "3" },
    },
  ],
  grants: [{ unit: "credits", amount: "100" }],
  policy: { grace_hours: 12 },
}

/** Its invoices cost money, so they can be voided. */
const withFee = { ...burning, charges: [basic.charges[0]!, ...burning.charges] }

const started = Effect.gen(function* () {
  yield* (yield* Plans).push({ plans: [burning] })
  const customer = yield* newCustomer
  const { id } = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
  return { customer, id, key: { customerId: customer.id, unit: "credits" } }
})

type Key = { readonly customerId: Customer.CustomerId; readonly unit: string }

const balanceOf = (key: Key) =>
  Effect.flatMap(Credits, ({ balance }) =>
    Effect.map(balance(key), ({ available, debt }) => `${available} ${debt}`),
  )

const entriesOf = ({ customerId, unit }: Key) =>
  Effect.flatMap(Credits, ({ listEntries }) =>
    Effect.map(listEntries({ customerId, unit, limit: 100 }), ({ data }) =>
      data.toReversed().map(({ available, debt, kind }) => `${kind} ${available} ${debt}`),
    ),
  )

/** The lines that burn credits, with the instant of their invoices. Each is explained, and costs no money. */
const burnt = Effect.gen(function* () {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  return data.toReversed().flatMap(({ lines, status }) =>
    lines.flatMap(({ amount, kind, origin, quantity, steps }) => {
      const burns = origin?.burns ?? null
      if (burns === null) return []
      assert.strictEqual(amount, 0n)
      const last = steps.at(-1)
      assert.deepInclude(last, { type: "burn", unit: "credits", credits: String(burns.amount) })
      return [`${status} ${kind} × ${quantity} ${burns.amount}`]
    }),
  )
})

/** Two subscriptions with 50 calls each. Their periods have ended and wait for a runner, and so has a grant of 40. */
const endedUnused = Effect.gen(function* () {
  yield* (yield* Plans).push({ plans: [{ ...burning, grants: [] }] })
  const customer = yield* newCustomer
  const key = { customerId: customer.id, unit: "credits" }
  const { create } = yield* Subscriptions
  yield* create({ customerId: customer.id, plan: "burning" })
  const { grant } = yield* Credits
  yield* grant({ ...key, kind: "promotional", amount: 40n, expiresAt: at("2026-02-05") })
  yield* until("2026-01-03")
  yield* create({ customerId: customer.id, plan: "burning" })
  yield* use(customer, 50)
  yield* TestClock.setTime(at("2026-02-10").epochMilliseconds)
  yield* grant({ ...key, kind: "paid", amount: 7n })
  return key
})

const runTwice = Effect.flatMap(BillingRuns, ({ runDue }) => Effect.andThen(runDue(), runDue()))

const inPeriods = (test: InvoicingTest): void => {
  scenario(
    test,
    "usage burns the credits of its period, and what they don't cover is a debt that the next ones repay",
    Effect.gen(function* () {
      const { customer, id, key } = yield* started
      yield* (yield* Credits).grant({ ...key, kind: "paid", amount: 20n })
      yield* until("2026-01-10")
      yield* use(customer, 60)
      const upcoming = yield* (yield* Invoices).upcoming(id)
      assert.deepInclude(upcoming?.lines[0]?.origin?.burns, { unit: "credits", amount: 150n })
      assert.strictEqual(yield* balanceOf(key), "120 0")
      yield* until("2026-02-01T11:00")
      // The invoice waits for late usage.
      assert.strictEqual(yield* balanceOf(key), "120 0")
      yield* useAt(customer, 1, "2026-01-31")
      yield* until("2026-02-01T12:00")
      assert.deepStrictEqual(yield* burnt, ["paid usage × 61 153"])
      // 100 of the period that is over and 20 that were bought. 33 are owed, of the 100 of this period.
      assert.strictEqual(yield* balanceOf(key), "67 0")
      assert.deepStrictEqual((yield* entriesOf(key)).slice(2), [
        "expire -100 0",
        "grant 100 0",
        "expire 100 0",
        "burn -100 0",
        "burn -20 0",
        "burn 0 33",
        "repay -33 -33",
      ])
      const [invoice] = (yield* (yield* Invoices).list({})).data
      assert.deepInclude(invoice, { status: "paid", total: 0n })
    }),
  )

  for (const trialUsage of ["free", "charged"] as const) {
    scenario(
      test,
      `usage of a trial that is ${trialUsage} burns ${trialUsage === "free" ? "nothing" : "credits"}, also when it is late`,
      Effect.gen(function* () {
        yield* (yield* Plans).push({ plans: [burning] })
        const customer = yield* newCustomer
        const key = { customerId: customer.id, unit: "credits" }
        const { create, reconcile } = yield* Subscriptions
        const input = { customerId: customer.id, plan: "burning", trial: { days: 14 }, trialUsage }
        const { id } = yield* create(input)
        yield* use(customer, 20)
        yield* until("2026-01-16")
        yield* useAt(customer, 30, "2026-01-10")
        yield* reconcile(id)
        yield* until("2026-01-18")
        assert.deepStrictEqual(
          yield* burnt,
          trialUsage === "free" ? ["paid usage × 20 0"] : ["paid usage × 20 30", "paid adjustment × 50 90"],
        )
        // What is late burns the 70 that the trial had left, also after its end, and 20 of the first period's 100.
        assert.strictEqual(yield* balanceOf(key), trialUsage === "free" ? "100 0" : "80 0")
      }),
    )
  }

  scenario(
    test,
    "a runner that is late burns what one in time would have",
    Effect.gen(function* () {
      const { customer, key } = yield* started
      const credits = yield* Credits
      yield* credits.grant({ ...key, kind: "promotional", amount: 40n, expiresAt: at("2026-02-03") })
      yield* use(customer, 50)
      // Somebody else moves the account past the ends of both grants.
      yield* TestClock.setTime(at("2026-02-10").epochMilliseconds)
      yield* credits.grant({ ...key, kind: "paid", amount: 7n })
      assert.strictEqual(yield* balanceOf(key), "7 0")
      const { runDue } = yield* BillingRuns
      yield* runDue()
      yield* runDue()
      assert.deepStrictEqual(yield* burnt, ["paid usage × 50 120"])
      assert.strictEqual(yield* balanceOf(key), "107 0")
    }),
  )

  scenario(
    test,
    "an invoice of several periods burns the credits of each, and those of later ones repay the debt",
    Effect.gen(function* () {
      const [calls] = burning.charges
      const charges = [{ ...calls!, free: "0", price: { credits: "1" } }]
      yield* (yield* Plans).push({ plans: [{ ...burning, charges }] })
      const start = (january: number, february: number) =>
        Effect.gen(function* () {
          const customer = yield* newCustomer
          yield* useAt(customer, january, "2026-01-10")
          yield* useAt(customer, february, "2026-02-10")
          const input = { customerId: customer.id, plan: "burning", startAt: at("2026-01-01") }
          yield* (yield* Subscriptions).create(input)
          return { customerId: customer.id, unit: "credits" }
        })
      yield* until("2026-03-05")
      const enough = yield* start(40, 90)
      const tooMuch = yield* start(130, 90)
      yield* until("2026-03-06")
      assert.deepStrictEqual(yield* burnt, [
        "paid usage × 40 40",
        "paid usage × 90 90",
        "paid usage × 130 130",
        "paid usage × 90 90",
      ])
      assert.strictEqual(yield* balanceOf(enough), "100 0")
      // February has repaid the 30 that January's 100 did not cover, and March the 20 that February's then did not.
      assert.strictEqual(yield* balanceOf(tooMuch), "80 0")
    }),
  )

  scenario(
    test,
    "what went unused is burnt once, though usage of another subscription counts until later",
    Effect.gen(function* () {
      const key = yield* endedUnused
      yield* runTwice
      assert.deepStrictEqual(yield* burnt, ["paid usage × 50 120", "paid usage × 50 120"])
      assert.strictEqual(yield* balanceOf(key), "0 193")
    }),
  )

  scenario(
    test,
    "what went unused is burnt once, also by a process whose clock is behind",
    Effect.gen(function* () {
      const key = yield* endedUnused
      // The ids of what it writes are before those of what is written already.
      yield* TestClock.setTime(at("2026-02-09").epochMilliseconds)
      yield* elsewhere(runTwice)
      assert.deepStrictEqual(yield* burnt, ["paid usage × 50 120", "paid usage × 50 120"])
      assert.strictEqual(yield* balanceOf(key), "0 193")
    }),
  )

  scenario(
    test,
    "what an invoice gave back to a grant that had ended is not burnt for later usage",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [withFee] })
      const customer = yield* newCustomer
      const key = { customerId: customer.id, unit: "credits" }
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
      yield* use(customer, 60)
      yield* until("2026-02-02")
      yield* use(customer, 30)
      yield* TestClock.setTime(at("2026-03-05").epochMilliseconds)
      const invoices = yield* Invoices
      const [january] = (yield* invoices.list({})).data
      yield* invoices.void(january!.id)
      // 50 of the 150 were a debt, which February has repaid.
      assert.strictEqual(yield* balanceOf(key), "50 0")
      yield* (yield* BillingRuns).runDue()
      yield* (yield* BillingRuns).runDue()
      // February has 50 of 60. March has repaid the rest.
      assert.strictEqual(yield* balanceOf(key), "140 0")
    }),
  )

  scenario(
    test,
    "grants are burnt by priority, then by their end, then by age",
    Effect.gen(function* () {
      const { customer, key } = yield* started
      const { grant, listGrants } = yield* Credits
      yield* grant({ ...key, kind: "paid", amount: 5n })
      yield* grant({ ...key, kind: "paid", amount: 5n })
      yield* grant({ ...key, kind: "paid", amount: 10n, priority: 1 })
      yield* use(customer, 10 + 38)
      yield* until("2026-02-01T12:00")
      const { data } = yield* listGrants({ customerId: customer.id })
      assert.deepStrictEqual(
        data.toReversed().map(({ amount, available }) => `${available} of ${amount}`),
        ["0 of 100", "1 of 5", "5 of 5", "0 of 10", "100 of 100"],
      )
    }),
  )
}

const scopes = (test: InvoicingTest): void => {
  scenario(
    test,
    "grants with a scope are burnt by the charges in it alone, and get back what these give back",
    Effect.gen(function* () {
      const { push } = yield* Plans
      const [calls] = burning.charges
      const price = { credits: "1" }
      const charges = [calls!, { ...calls!, key: "extra", free: "0", price }]
      yield* push({ plans: [{ ...burning, charges, grants: [{ unit: "credits", amount: "10" }] }] })
      const customer = yield* newCustomer
      const key = { customerId: customer.id, unit: "credits" }
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
      const credits = yield* Credits
      const grant = { ...key, kind: "paid" } as const
      const forCalls = yield* credits.grant({ ...grant, amount: 50n, scope: ["calls"] })
      const forExtra = yield* credits.grant({ ...grant, amount: 12n, scope: ["extra", "other"] })
      const record = yield* useAt(customer, 30, "2026-01-01")
      yield* until("2026-02-02")
      // 60 for calls: 10 of the plan and 50 of their own. 30 more, of which 12 are covered. February's 10 repay some.
      assert.deepStrictEqual(yield* burnt, ["paid usage × 30 60", "paid usage × 30 30"])
      assert.strictEqual(yield* balanceOf(key), "0 8")
      const { data } = yield* credits.listEntries({ ...key, limit: 100 })
      const entries = data.toReversed().filter(({ kind }) => kind === "burn")
      assert.deepStrictEqual(
        entries.map(({ available, debt, purpose, scoped }) => [purpose, available, scoped, debt]),
        [
          ["calls", -10n, 0n, 0n],
          ["calls", 0n, -50n, 0n],
          ["extra", 0n, -12n, 0n],
          ["extra", 0n, 0n, 18n],
        ],
      )
      yield* (yield* Usage).voidRecord(record.id)
      yield* until("2026-03-02")
      const left = yield* Effect.forEach([forCalls, forExtra], ({ id }) => credits.getGrant(id))
      assert.deepStrictEqual(
        left.map(({ available }) => available),
        [50n, 12n],
      )
      // The debt of 8 is gone, and 10 of it were repaid. March has 10 of its own.
      assert.strictEqual(yield* balanceOf(key), "20 0")
    }),
  )
}

const corrections = (test: InvoicingTest): void => {
  scenario(
    test,
    "late usage burns the difference, and less of it is given back",
    Effect.gen(function* () {
      const { customer, key } = yield* started
      const bought = yield* (yield* Credits).grant({ ...key, kind: "paid", amount: 1_000n })
      const record = yield* useAt(customer, 100, "2026-01-01")
      yield* until("2026-02-15")
      assert.strictEqual(yield* balanceOf(key), "930 0")
      yield* useAt(customer, 5, "2026-01-20")
      yield* until("2026-03-15")
      yield* (yield* Usage).voidRecord(record.id)
      yield* until("2026-04-15")
      assert.deepStrictEqual(yield* burnt, [
        "paid usage × 100 270",
        "paid adjustment × 105 15",
        "paid usage × 0 0",
        // All of the 105 but 5, which are free: what was burnt last comes back first.
        "paid adjustment × 5 -15",
        "paid adjustment × 5 -270",
        "paid usage × 0 0",
      ])
      // Of the periods' own credits, which have ended, nothing comes back.
      assert.strictEqual(yield* balanceOf(key), "1100 0")
      assert.strictEqual((yield* (yield* Credits).getGrant(bought.id)).available, 1_000n)
    }),
  )

  scenario(
    test,
    "a debt that was repaid comes back as credits",
    Effect.gen(function* () {
      const { customer, key } = yield* started
      const record = yield* useAt(customer, 60, "2026-01-01")
      yield* until("2026-02-15")
      assert.strictEqual(yield* balanceOf(key), "50 0")
      yield* (yield* Usage).voidRecord(record.id)
      yield* until("2026-03-15")
      // 50 of the 150 were a debt, which February has repaid. The 100 of January have ended.
      assert.strictEqual(yield* balanceOf(key), "150 0")
    }),
  )

  scenario(
    test,
    "a voided invoice gives back what it burnt, once, and it is not burnt again",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [withFee] })
      const customer = yield* newCustomer
      const key = { customerId: customer.id, unit: "credits" }
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
      yield* (yield* Credits).grant({ ...key, kind: "paid", amount: 500n })
      yield* use(customer, 60)
      yield* until("2026-02-02")
      assert.strictEqual(yield* balanceOf(key), "550 0")
      const { data } = yield* (yield* Invoices).list({})
      yield* (yield* Invoices).void(data[0]!.id)
      // The 100 of January have ended.
      assert.strictEqual(yield* balanceOf(key), "600 0")
      yield* until("2026-03-02")
      assert.strictEqual(yield* balanceOf(key), "600 0")
      assert.deepStrictEqual(yield* burnt, ["void usage × 60 150", "open usage × 0 0"])
    }),
  )

  scenario(
    test,
    "what is given back to a grant that was voided, or of a customer who was erased, is gone at once",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [{ ...withFee, grants: [] }] })
      const credits = yield* Credits
      const start = Effect.gen(function* () {
        const customer = yield* newCustomer
        const key = { customerId: customer.id, unit: "credits" }
        const bought = yield* credits.grant({ ...key, kind: "paid", amount: 100n })
        const { id } = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
        const record = yield* useAt(customer, 20, "2026-01-01")
        return { customer, id, key, bought, record }
      })
      const voided = yield* start
      const corrected = yield* start
      const erased = yield* start
      yield* until("2026-02-02")
      assert.strictEqual(yield* balanceOf(voided.key), "70 0")
      const { list, void: voidInvoice } = yield* Invoices
      const billOf = ({ customer }: typeof voided) =>
        Effect.map(
          list({ customerId: customer.id }),
          ({ data }) => data.find(({ lines }) => lines.some(({ origin }) => origin?.burns))!.id,
        )
      yield* credits.voidGrant(voided.bought.id)
      yield* voidInvoice(yield* billOf(voided))
      yield* credits.voidGrant(corrected.bought.id)
      yield* (yield* Usage).voidRecord(corrected.record.id)
      const lastBill = yield* billOf(erased)
      yield* (yield* Subscriptions).cancel(erased.id, { at: "now" })
      yield* (yield* Customers).erase(erased.customer.id)
      yield* voidInvoice(lastBill)
      yield* until("2026-03-02")
      const entries = ["grant 100 0", "burn -30 0", "void -70 0", "restore 30 0", "void -30 0"]
      assert.deepStrictEqual(
        yield* Effect.forEach([voided, corrected, erased], ({ key }) => entriesOf(key)),
        [entries, entries, entries],
      )
    }),
  )

  scenario(
    test,
    "a grant of what was a debt gets nothing back once it was voided",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [withFee] })
      const customer = yield* newCustomer
      const key = { customerId: customer.id, unit: "credits" }
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
      const record = yield* useAt(customer, 60, "2026-01-01")
      yield* until("2026-02-02")
      yield* use(customer, 60)
      yield* (yield* Usage).voidRecord(record.id)
      yield* until("2026-03-02")
      // The debt of January was repaid by February: so 50 come back as a grant. March has repaid 100 of February's 150.
      assert.strictEqual(yield* balanceOf(key), "50 0")
      const credits = yield* Credits
      const { data } = yield* credits.listGrants({ customerId: customer.id })
      const rest = data.find(({ source }) => source?.type === "invoice")!
      yield* credits.voidGrant(rest.id)
      const invoices = yield* Invoices
      yield* invoices.void((yield* invoices.list({})).data[0]!.id)
      assert.strictEqual(yield* balanceOf(key), "0 0")
      const found = yield* credits.getGrant(rest.id)
      assert.deepInclude(found, { status: "voided", amount: 150n, available: 0n })
    }),
  )

  scenario(
    test,
    "a subscription that is canceled burns what was used until then",
    Effect.gen(function* () {
      const { customer, id, key } = yield* started
      yield* use(customer, 30)
      yield* until("2026-01-20")
      yield* (yield* Subscriptions).cancel(id, { at: "now" })
      yield* until("2026-01-21")
      // 100 of 31 days are 61 of 19, of which 60 are burnt.
      assert.deepStrictEqual(yield* burnt, ["paid usage × 30 60"])
      assert.strictEqual(yield* balanceOf(key), "1 0")
    }),
  )

  scenario(
    test,
    "usage that cost money goes on as usage that burns credits",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [burning] })
      const customer = yield* newCustomer
      const key = { customerId: customer.id, unit: "credits" }
      const { change, create } = yield* Subscriptions
      const { id } = yield* create({ customerId: customer.id, plan: "basic", quantities: { seats: "0" } })
      yield* useAt(customer, 40, "2026-01-01")
      yield* until("2026-01-11")
      yield* change(id, { plan: "burning", at: "now" })
      yield* use(customer, 20)
      yield* until("2026-02-02")
      // 3 × (60 - 10) - 3 × (40 - 10), and 0.40 of money before.
      assert.deepStrictEqual(yield* burnt, ["paid usage × 60 60"])
      const { data } = yield* (yield* Invoices).list({ limit: 100 })
      const money = data.flatMap(({ lines }) => lines).filter(({ charge }) => charge === "calls")
      assert.deepStrictEqual(money.map(({ amount }) => amount).toSorted(), [0n, 40n])
      assert.strictEqual(yield* balanceOf(key), "100 0")
    }),
  )
}

const refusals = (test: InvoicingTest): void => {
  scenario(
    test,
    "a charge burns credits only of usage, in its unit alone",
    Effect.gen(function* () {
      const { push } = yield* Plans
      const [calls] = burning.charges
      const problemOf = (charge: object) =>
        Effect.map(
          Effect.flip(push({ plans: [{ ...burning, charges: [{ ...calls!, ...charge }] }] } as never)),
          (error) => ("field" in error ? `${error.field} ${error.problem}` : error._tag),
        )
      const wrong = [
        { burns: "EUR" },
        { price: { EUR: "1" } },
        { price: { credits: "1", EUR: "1" } },
        { meter: undefined, quantity: "seats" },
        { model: "percentage", rate: "1", price: undefined },
      ]
      assert.deepStrictEqual(
        (yield* Effect.forEach(wrong, problemOf)).map((problem) =>
          problem.replace("plans.burning.charges.calls.", ""),
        ),
        [
          "burns must be a lower-case letter, then at most 63 lower-case letters, digits and underscores",
          "price has no price in credits",
          "price.EUR is not the unit that the charge burns",
          "burns needs a meter: only usage burns credits",
          "burns is not a known field here (known: key, name, model, timing, minimum, maximum, meter, quantity, free, convert, where, by, rate, flat, minimum_per_record, maximum_per_record)",
        ],
      )
    }),
  )
}

export const burnScenarios = (test: InvoicingTest): void => {
  inPeriods(test)
  scopes(test)
  corrections(test)
  refusals(test)
}
