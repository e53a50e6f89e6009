/**
 * Spend alerts: when they fire, how often, and what they block.
 */
import {
  BillingRuns,
  type Customer,
  Entitlements,
  Invoices,
  Plans,
  type SpendAlert,
  SpendAlerts,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { times, together } from "../contract/ContractTest.ts"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { listEvents } from "../contract/WebhookProbe.ts"
import { at, basic, billed, newCustomer, scenario, subscribed, until, use, useAt } from "./Scenario.ts"

/** How many runners check at once. */
const RUNNERS = 8

interface Told {
  readonly type: string
  readonly data: {
    readonly amount: number
    readonly spent: number
    readonly period_start: string
    readonly period_end: string
  }
}

/** The firings, oldest first: the amount, what was spent, and the days of the period. */
const fires = Effect.gen(function* () {
  const { data } = yield* Effect.orDie(listEvents())
  return data.toReversed().flatMap(({ payload }) => {
    const { data: of, type } = JSON.parse(payload) as Told
    const days = [of.period_start, of.period_end].map((one) => one?.slice(5, 10))
    return type === "spend.alert" ? [`${of.amount} of ${of.spent}, ${days.join(" to ")}`] : []
  })
})

const check = Effect.flatMap(BillingRuns, ({ checkSpend }) => checkSpend)

/** Records calls of 0.01 each, and checks. */
const spend = (customer: Customer.Customer, calls: number) => Effect.andThen(use(customer, calls), check)

const alertOf = Effect.fnUntraced(function* (
  { id: customerId }: Customer.Customer,
  change: Partial<SpendAlert.CreateSpendAlert> = {},
) {
  return yield* (yield* SpendAlerts).create({ customerId, currency: "EUR", amount: 500n, ...change })
})

const invoicesSoFar = (test: InvoicingTest): void => {
  scenario(
    test,
    "an alert bills the usage so far, and the invoice of the period bills the rest",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      const { runDue } = yield* BillingRuns
      yield* runDue()
      yield* alertOf(customer, { subscriptionId, repeat: "multiples", action: "invoice" })
      yield* until("2026-01-10")
      yield* spend(customer, 620)
      yield* together(times(RUNNERS, () => check))
      yield* runDue()
      yield* until("2026-01-20")
      yield* spend(customer, 500)
      yield* runDue()
      yield* use(customer, 30)
      yield* until("2026-02-01T12:00")
      yield* useAt(customer, 7, "2026-01-25")
      yield* until("2026-03-01T12:00")
      const calls = (yield* billed).map((invoice) => invoice.filter((line) => line.includes(" calls ")))
      assert.deepStrictEqual(
        calls.filter((lines) => lines.length > 0),
        [
          ["usage calls × 620 2026-01-01 2026-02-01 6.20"],
          ["adjustment calls × 1120 2026-01-01 2026-02-01 5.00"],
          ["adjustment calls × 1150 2026-01-01 2026-02-01 0.30"],
          [
            "adjustment calls × 1157 2026-01-01 2026-02-01 0.07",
            "usage calls × 0 2026-02-01 2026-03-01 0.00",
          ],
        ],
      )
      const { data } = yield* (yield* Invoices).list({ subscriptionId, limit: 100 })
      const second = data.toReversed()[2]!
      const [line] = second.lines
      assert.deepInclude(
        line!.steps.find(({ type }) => type === "already_billed"),
        { invoice: data.toReversed()[1]!.id, billed: "6.2", amount: "5" },
      )
    }),
  )

  scenario(
    test,
    "what is used after its subscription was canceled is not billed by an invoice that waited",
    Effect.gen(function* () {
      const charges = [{ key: "calls", model: "unit", meter: "calls", price: { EUR: "0.10" } }] as const
      const used = { ...basic, key: "used", charges, policy: { grace_hours: 24 } }
      yield* (yield* Plans).push({ plans: [used] })
      const { cancel, create } = yield* Subscriptions
      const customer = yield* newCustomer
      const first = yield* create({ customerId: customer.id, plan: "used" })
      yield* alertOf(customer, { subscriptionId: first.id, amount: 1_000n, action: "invoice" })
      yield* until("2026-02-01T06:00")
      // The invoice of January waits for late usage, and this one waits for it.
      yield* spend(customer, 100)
      yield* until("2026-02-01T07:00")
      yield* cancel(first.id, { at: "now" })
      yield* create({ customerId: customer.id, plan: "used" })
      yield* until("2026-02-01T08:00")
      yield* use(customer, 50)
      yield* until("2026-03-05")
      assert.deepStrictEqual(yield* billed, [
        ["2026-02-02 0.00", "usage calls × 0 2026-01-01 2026-02-01 0.00"],
        ["2026-02-02 10.00", "usage calls × 100 2026-02-01 2026-02-01T07:00 10.00"],
        // The last invoice waits for late usage.
        ["2026-02-02T07:00 0.00", "adjustment calls × 100 2026-02-01 2026-02-01T07:00 0.00"],
        ["2026-03-02T07:00 5.00", "usage calls × 50 2026-02-01T07:00 2026-03-01T07:00 5.00"],
      ])
    }),
  )

  scenario(
    test,
    "the last invoice waits for late usage, also if all usage was billed so far",
    Effect.gen(function* () {
      const charges = [{ key: "calls", model: "unit", meter: "calls", price: { EUR: "0.10" } }] as const
      yield* (yield* Plans).push({ plans: [{ ...basic, key: "used", charges, policy: { grace_hours: 24 } }] })
      const { cancel, create } = yield* Subscriptions
      const ended = Effect.gen(function* () {
        const customer = yield* newCustomer
        const { id: subscriptionId } = yield* create({ customerId: customer.id, plan: "used" })
        yield* alertOf(customer, { subscriptionId, amount: 5_000n, action: "invoice" })
        yield* cancel(subscriptionId, { at: "period_end" })
        return customer
      })
      const more = yield* ended
      const same = yield* ended
      yield* until("2026-01-20")
      yield* spend(more, 600)
      yield* spend(same, 600)
      yield* until("2026-01-31")
      yield* use(more, 100)
      yield* until("2026-02-01T02:00")
      yield* useAt(more, 300, "2026-01-25")
      yield* useAt(same, 300, "2026-01-25")
      yield* until("2026-03-05")
      assert.deepStrictEqual((yield* billed).toSorted(), [
        ["2026-01-20 60.00", "usage calls × 600 2026-01-01 2026-02-01 60.00"],
        ["2026-01-20 60.00", "usage calls × 600 2026-01-01 2026-02-01 60.00"],
        ["2026-02-02 30.00", "adjustment calls × 900 2026-01-01 2026-02-01 30.00"],
        ["2026-02-02 40.00", "adjustment calls × 1000 2026-01-01 2026-02-01 40.00"],
      ])
    }),
  )

  scenario(
    test,
    "an invoice of the usage so far that waited has no fees of a change that came after it",
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [{ ...basic, key: "graced", policy: { grace_hours: 24 } }] })
      const { change, create } = yield* Subscriptions
      const customer = yield* newCustomer
      const quantities = { seats: "1" }
      const { id: subscriptionId } = yield* create({ customerId: customer.id, plan: "graced", quantities })
      yield* alertOf(customer, { subscriptionId, action: "invoice" })
      yield* until("2026-02-01T06:00")
      yield* spend(customer, 1_000)
      yield* until("2026-02-01T07:00")
      yield* change(subscriptionId, { plan: "pro", at: "now" })
      yield* until("2026-02-05")
      assert.deepStrictEqual((yield* billed).slice(2), [
        [
          "2026-02-02 10.00",
          "usage calls × 1000 2026-02-01 2026-02-01T07:00 10.00",
          "usage calls × 1000 2026-02-01T07:00 2026-03-01 0.00",
        ],
        [
          "2026-02-02T07:00 22.20",
          "credit base 2026-02-01 2026-02-01T07:00 -10.00",
          "credit seats × 1 2026-02-01 2026-02-01T07:00 -5.00",
          "advance base 2026-02-01T07:00 2026-03-01 31.00",
          "advance seats × 1 2026-02-01T07:00 2026-03-01 6.20",
        ],
      ])
    }),
  )

  scenario(
    test,
    "only an alert of a subscription bills",
    Effect.gen(function* () {
      const { customer } = yield* subscribed
      const alert = yield* alertOf(customer)
      const refused = [
        yield* Effect.flip(alertOf(customer, { action: "invoice" })),
        yield* Effect.flip((yield* SpendAlerts).update(alert.id, { action: "invoice" })),
      ]
      for (const error of refused) assert.deepInclude(error, { _tag: "InvalidInput", field: "action" })
    }),
  )
}

const spendFirings = (test: InvoicingTest): void => {
  scenario(
    test,
    "an alert fires once in a period when its amount is reached, and again in the next one",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* until("2026-01-10")
      const { id } = yield* alertOf(customer, { subscriptionId })
      yield* spend(customer, 499)
      assert.deepStrictEqual(yield* fires, [])
      yield* spend(customer, 3)
      yield* spend(customer, 1_000)
      assert.deepStrictEqual(yield* fires, ["500 of 502, 01-01 to 02-01"])
      assert.deepInclude(yield* (yield* SpendAlerts).get(id), {
        firedAmount: 500n,
        firedPeriodStart: at("2026-01-01"),
        firedAt: at("2026-01-10"),
        blockedUntil: null,
      })
      yield* until("2026-02-02")
      yield* spend(customer, 10)
      assert.lengthOf(yield* fires, 1)
      yield* spend(customer, 490)
      assert.deepStrictEqual((yield* fires).slice(1), ["500 of 500, 02-01 to 03-01"])
    }),
  )

  scenario(
    test,
    "an alert of multiples fires at the largest one reached, once each, and not again after usage is voided",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* alertOf(customer, { subscriptionId, amount: 100n, repeat: "multiples" })
      yield* spend(customer, 120)
      const record = yield* useAt(customer, 250, "2026-01-01")
      yield* check
      yield* (yield* Usage).voidRecord(record.id)
      yield* spend(customer, 200)
      yield* spend(customer, 79)
      yield* spend(customer, 1)
      assert.deepStrictEqual(yield* fires, [
        "100 of 120, 01-01 to 02-01",
        "300 of 370, 01-01 to 02-01",
        "400 of 400, 01-01 to 02-01",
      ])
    }),
  )

  scenario(
    test,
    "an alert is checked when it is created and changed, and does not fire again for what it has fired at",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* spend(customer, 600)
      const { id } = yield* alertOf(customer, { subscriptionId })
      yield* check
      const alerts = yield* SpendAlerts
      yield* alerts.update(id, { amount: 550n })
      yield* check
      yield* alerts.update(id, { amount: 300n })
      yield* check
      yield* alerts.update(id, { amount: 700n })
      yield* check
      yield* spend(customer, 100)
      assert.deepStrictEqual(yield* fires, [
        "500 of 600, 01-01 to 02-01",
        "550 of 600, 01-01 to 02-01",
        "700 of 700, 01-01 to 02-01",
      ])
      yield* alerts.delete(id)
      yield* spend(customer, 5_000)
      assert.lengthOf(yield* fires, 3)
    }),
  )

  scenario(
    test,
    "a record that comes after the end of a period fires for it, unless the alert was created later",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* alertOf(customer, { subscriptionId })
      yield* until("2026-02-01T00:05")
      yield* alertOf(customer, { subscriptionId })
      yield* useAt(customer, 500, "2026-01-31T23:59")
      yield* check
      assert.deepStrictEqual(yield* fires, ["500 of 500, 01-01 to 02-01"])
    }),
  )
}

const spendBeforePeriods = (test: InvoicingTest): void => {
  scenario(
    test,
    "usage of a period that opens later fires when it opens, and blocks",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      const alerts = yield* SpendAlerts
      const { id } = yield* alertOf(customer, { subscriptionId, action: "block" })
      yield* until("2026-01-31T23:58")
      yield* useAt(customer, 500, "2026-02-01T00:01")
      yield* check
      assert.deepStrictEqual(yield* fires, [])
      // The run that opens the period is enough.
      yield* until("2026-02-01T00:08")
      assert.deepStrictEqual(yield* fires, ["500 of 500, 02-01 to 03-01"])
      assert.deepStrictEqual((yield* alerts.get(id)).blockedUntil, at("2026-03-01"))
    }),
  )

  scenario(
    test,
    "one run opens a period, finds that too much was used in it already, and bills that",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* alertOf(customer, { subscriptionId, action: "invoice" })
      yield* until("2026-01-31T23:58")
      yield* useAt(customer, 500, "2026-02-01T00:01")
      yield* TestClock.setTime(at("2026-02-01T00:08").epochMilliseconds)
      const { hasMore } = yield* (yield* BillingRuns).runDue()
      assert.isFalse(hasMore)
      const [newest] = (yield* (yield* Invoices).list({})).data
      assert.deepInclude(newest, { status: "open", total: 500n })
      assert.deepStrictEqual(yield* fires, ["500 of 500, 02-01 to 03-01"])
    }),
  )

  scenario(
    test,
    "usage of a period that a runner opens late fires, of its subscription and of its customer",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* alertOf(customer, { subscriptionId })
      yield* alertOf(customer, { amount: 400n })
      yield* until("2026-01-31")
      yield* TestClock.setTime(at("2026-02-01T06:00").epochMilliseconds)
      yield* spend(customer, 500)
      assert.deepStrictEqual(yield* fires, [])
      yield* until("2026-02-01T06:00")
      assert.sameMembers([...(yield* fires)], ["400 of 500, 02-01 to 03-01", "500 of 500, 02-01 to 03-01"])
    }),
  )

  scenario(
    test,
    "periods of a customer without alerts are not checked",
    Effect.gen(function* () {
      yield* subscribed
      // Other scenarios may have left marks.
      yield* check
      yield* TestClock.setTime(at("2026-02-01T00:08").epochMilliseconds)
      // A run of a lane checks nothing, so a mark would still be there.
      yield* (yield* BillingRuns).runDue({ lane: "billing" })
      assert.strictEqual(yield* check, 0)
    }),
  )
}

const spendRunners = (test: InvoicingTest): void => {
  scenario(
    test,
    "runners that check at once fire once",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* alertOf(customer, { subscriptionId, amount: 10n, repeat: "multiples" })
      yield* check
      for (let round = 1; round <= 3; round++) {
        yield* Effect.all([use(customer, 10), together(times(RUNNERS, () => check))], { concurrency: 2 })
        yield* together(times(RUNNERS, () => check))
      }
      assert.deepStrictEqual(
        (yield* fires).map((one) => one.split(",")[0]),
        ["10 of 10", "20 of 20", "30 of 30"],
      )
    }),
  )
}

const spendOfCustomers = (test: InvoicingTest): void => {
  scenario(
    test,
    "an alert of a customer counts all subscriptions of its currency in a UTC month",
    Effect.gen(function* () {
      const customer = yield* newCustomer
      const { create } = yield* Subscriptions
      yield* until("2026-01-16")
      yield* create({ customerId: customer.id, plan: "basic", quantities: { seats: "1" } })
      yield* create({ customerId: customer.id, plan: "pro", quantities: { seats: "1" } })
      yield* alertOf(customer, { amount: 1_500n })
      yield* alertOf(customer, { amount: 1n, currency: "USD" })
      yield* spend(customer, 500)
      yield* until("2026-02-10")
      yield* spend(customer, 900)
      assert.deepStrictEqual(yield* fires, [])
      yield* until("2026-02-17")
      yield* spend(customer, 100)
      assert.deepStrictEqual(yield* fires, ["1500 of 1500, 02-01 to 03-01"])
    }),
  )
}

const spendLimits = (test: InvoicingTest): void => {
  scenario(
    test,
    "an alert blocks from its amount on until the period ends, it is raised or it is deleted",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      const alerts = yield* SpendAlerts
      const blocks = Effect.map(alerts.blocking(customer.id), (all) => all.map(({ id }) => id))
      const { id } = yield* alertOf(customer, { subscriptionId, action: "block" })
      yield* spend(customer, 499)
      assert.deepStrictEqual(yield* blocks, [])
      yield* spend(customer, 1)
      assert.deepStrictEqual(yield* blocks, [id])
      assert.deepStrictEqual((yield* alerts.get(id)).blockedUntil, at("2026-02-01"))
      yield* alerts.update(id, { amount: 600n })
      yield* check
      assert.deepStrictEqual(yield* blocks, [])
      yield* alerts.update(id, { amount: 400n })
      yield* check
      assert.deepStrictEqual(yield* blocks, [id])
      yield* until("2026-02-01")
      assert.deepStrictEqual(yield* blocks, [])
      yield* spend(customer, 400)
      assert.deepStrictEqual(yield* blocks, [id])
      yield* alerts.delete(id)
      assert.deepStrictEqual(yield* blocks, [])
    }),
  )

  scenario(
    test,
    "a block ends with its period when that ends early",
    Effect.gen(function* () {
      const { change, pause, resume } = yield* Subscriptions
      const alerts = yield* SpendAlerts
      const ends = [
        (id: string) => change(id, { plan: "yearly", at: "now" }),
        (id: string) => Effect.andThen(pause(id, {}), resume(id, { anchor: "now" })),
      ]
      for (const end of ends) {
        const { customer, id: subscriptionId } = yield* subscribed
        const { id } = yield* alertOf(customer, { subscriptionId, action: "block" })
        yield* TestClock.adjust("1 day")
        yield* spend(customer, 500)
        assert.lengthOf(yield* alerts.blocking(customer.id), 1)
        yield* TestClock.adjust("1 day")
        yield* end(subscriptionId)
        yield* check
        assert.deepStrictEqual(yield* alerts.blocking(customer.id), [])
        assert.deepStrictEqual((yield* alerts.get(id)).blockedUntil, yield* DateTime.now)
      }
    }),
  )

  scenario(
    test,
    "a block refuses what is beyond a soft limit, of its subscription alone, and not what is included",
    Effect.gen(function* () {
      const features = {
        calls: { type: "metered", meter: "calls", included: "10", limit: "soft" },
        other: { type: "boolean" },
      } as const
      yield* (yield* Plans).push({ plans: [{ ...basic, key: "api", features }] })
      const customer = yield* newCustomer
      const { create } = yield* Subscriptions
      const { id } = yield* create({ customerId: customer.id, plan: "api", quantities: { seats: "1" } })
      const rest = yield* create({ customerId: customer.id, plan: "basic", quantities: { seats: "1" } })
      const { check: ask, consume, list } = yield* Entitlements
      const asked = { customerId: customer.id, feature: "calls" }
      const reasons = Effect.all([
        Effect.map(ask(asked), ({ allowed, reason }) => `${allowed} ${reason}`),
        Effect.map(consume(asked), ({ usageRecordId, reason }) => `${usageRecordId !== null} ${reason}`),
        Effect.map(list({ customerId: customer.id }), (all) => all.map(({ reason }) => reason).join(" ")),
      ])
      yield* alertOf(customer, { subscriptionId: rest.id, amount: 1n, action: "block" })
      const { id: alertId } = yield* alertOf(customer, { subscriptionId: id, amount: 8n, action: "block" })
      yield* spend(customer, 8)
      assert.deepStrictEqual(yield* reasons, ["true included", "true included", "included included"])
      yield* spend(customer, 1)
      assert.deepStrictEqual(yield* reasons, [
        "false spend_limit",
        "false spend_limit",
        "spend_limit included",
      ])
      yield* (yield* SpendAlerts).update(alertId, { amount: 1_000n })
      yield* check
      assert.deepStrictEqual(yield* reasons, ["true overage", "true overage", "overage included"])
    }),
  )

  scenario(
    test,
    "a customer has at most 20 alerts, of its own subscriptions and their currencies",
    Effect.gen(function* () {
      const [own, other] = [yield* subscribed, yield* subscribed]
      const failureOf = (change: Partial<SpendAlert.CreateSpendAlert>) =>
        Effect.map(Effect.flip(alertOf(own.customer, change)), ({ message }) => message)
      assert.include(yield* failureOf({ subscriptionId: other.id }), other.id)
      assert.include(yield* failureOf({ subscriptionId: own.id, currency: "USD" }), "currency")
      assert.include(yield* failureOf({ currency: "XXZ" }), "currency")
      const made = yield* Effect.exit(
        Effect.forEach(
          times(19, () => alertOf(own.customer)),
          (one) => one,
          { discard: true },
        ),
      )
      assert.strictEqual(made._tag, "Success")
      const ends = yield* together(times(4, () => Effect.exit(alertOf(own.customer))))
      assert.lengthOf(
        ends.filter(({ _tag }) => _tag === "Success"),
        1,
      )
      assert.strictEqual(yield* failureOf({}), "there are already 20 spend alerts of this customer")
    }),
  )
}

export const spendScenarios = (test: InvoicingTest): void => {
  invoicesSoFar(test)
  spendFirings(test)
  spendBeforePeriods(test)
  spendRunners(test)
  spendOfCustomers(test)
  spendLimits(test)
}
