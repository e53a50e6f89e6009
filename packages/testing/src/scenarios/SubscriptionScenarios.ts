/**
 * The life of subscriptions, row by row of the machine: the money, and the exact list of events.
 */
import { Invoices, Subscriptions, Usage } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, billed, newCustomer, scenario, subscribed, told, until, use, useAt } from "./Scenario.ts"

const millis = (text: string): number => at(text).epochMilliseconds

const FIRST = [
  "2026-01-01 20.00",
  "advance base 2026-01-01 2026-02-01 10.00",
  "advance seats × 2 2026-01-01 2026-02-01 10.00",
]
const BEGUN = [
  "2026-01-01 subscription.created",
  "2026-01-01 invoice.created",
  "2026-01-01 subscription.activated",
  "2026-01-01 invoice.finalized",
]

const starts = (test: InvoicingTest): void => {
  for (const trialUsage of ["free", "charged"] as const) {
    scenario(
      test,
      `a trial whose usage is ${trialUsage} is announced, ends, and is followed by the first period`,
      Effect.gen(function* () {
        const customer = yield* newCustomer
        yield* (yield* Subscriptions).create({
          customerId: customer.id,
          plan: "basic",
          quantities: { seats: "2" },
          trial: { days: 14 },
          trialUsage,
        })
        yield* until("2026-01-05")
        yield* use(customer, 50)
        yield* until("2026-01-20")
        assert.deepStrictEqual(yield* billed, [
          [
            trialUsage === "free" ? "2026-01-15 20.00" : "2026-01-15 20.50",
            `usage calls × 50 2026-01-01 2026-01-15 ${trialUsage === "free" ? "0.00" : "0.50"}`,
            "advance base 2026-01-15 2026-02-15 10.00",
            "advance seats × 2 2026-01-15 2026-02-15 10.00",
          ],
        ])
        assert.deepStrictEqual(yield* told, [
          "2026-01-01 subscription.created",
          "2026-01-12 subscription.trial_ending",
          "2026-01-15 invoice.created",
          "2026-01-15 subscription.activated",
          "2026-01-15 invoice.finalized",
        ])
      }),
    )
  }

  scenario(
    test,
    "a start in the future waits, and can be canceled without a bill",
    Effect.gen(function* () {
      const { cancel, create } = yield* Subscriptions
      const { id: customerId } = yield* newCustomer
      const input = { customerId, plan: "yearly", startAt: at("2026-02-10") }
      const first = yield* create(input)
      yield* create({ ...input, startAt: at("2026-02-03"), anchor: "2026-01-01" })
      yield* until("2026-01-20")
      assert.strictEqual((yield* cancel(first.id, { at: "now" })).phase, "ended")
      yield* until("2026-03-01")
      // 332 of 365 days, from the start on.
      assert.deepStrictEqual(yield* billed, [
        ["2026-02-03 281.97", "advance base 2026-02-03 2027-01-01 281.97"],
      ])
      assert.deepStrictEqual(yield* told, [
        "2026-01-01 subscription.created",
        "2026-01-01 subscription.created",
        "2026-01-20 subscription.canceled",
        "2026-01-20 subscription.ended",
        "2026-02-03 invoice.created",
        "2026-02-03 subscription.activated",
        "2026-02-03 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "a start in the past is billed by one invoice with the lines of each period",
    Effect.gen(function* () {
      yield* until("2026-03-10")
      const { id: customerId } = yield* newCustomer
      const startAt = at("2026-01-15")
      yield* (yield* Subscriptions).create({ customerId, plan: "basic", quantities: { seats: "1" }, startAt })
      yield* until("2026-03-11")
      const ofPeriod = (start: string, end: string) => [
        `advance base ${start} ${end} 10.00`,
        `advance seats × 1 ${start} ${end} 5.00`,
      ]
      assert.deepStrictEqual(yield* billed, [
        [
          "2026-03-10 30.00",
          ...ofPeriod("2026-01-15", "2026-02-15"),
          "usage calls × 0 2026-01-15 2026-02-15 0.00",
          ...ofPeriod("2026-02-15", "2026-03-15"),
        ],
      ])
      assert.deepStrictEqual(yield* told, [
        "2026-03-10 subscription.created",
        "2026-03-10 subscription.activated",
        "2026-03-10 invoice.created",
        "2026-03-10 subscription.renewed",
        "2026-03-10 invoice.finalized",
      ])
    }),
  )
}

const ends = (test: InvoicingTest): void => {
  scenario(
    test,
    "a cancellation at the period's end is taken back, asked again, and bills the last usage",
    Effect.gen(function* () {
      const { cancel, uncancel } = yield* Subscriptions
      const { customer, id } = yield* subscribed
      yield* until("2026-01-05")
      yield* cancel(id, { at: "period_end" })
      yield* until("2026-01-10")
      yield* uncancel(id)
      yield* until("2026-01-25")
      yield* cancel(id, { at: "period_end" })
      yield* use(customer, 30)
      yield* until("2026-04-01")
      assert.deepStrictEqual(yield* billed, [
        FIRST,
        ["2026-02-01 0.30", "usage calls × 30 2026-01-01 2026-02-01 0.30"],
      ])
      assert.deepStrictEqual(yield* told, [
        ...BEGUN,
        "2026-01-05 subscription.canceled",
        `2026-01-10 subscription.updated {"ends_at":"2026-02-01T00:00:00.000Z"}`,
        "2026-01-25 subscription.canceled",
        "2026-02-01 invoice.created",
        "2026-02-01 subscription.ended",
        "2026-02-01 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "usage that is recorded or voided after the end is billed by a reconciliation, once",
    Effect.gen(function* () {
      const { cancel, reconcile } = yield* Subscriptions
      const { customer, id } = yield* subscribed
      yield* until("2026-01-25")
      yield* use(customer, 300)
      yield* cancel(id, { at: "period_end" })
      yield* until("2026-03-01")
      assert.isNull(yield* reconcile(id))
      const late = yield* useAt(customer, 200, "2026-01-28")
      const draft = yield* reconcile(id)
      assert.deepInclude(draft, { status: "draft", total: 200n, subscriptionId: id })
      // It is billed by the draft, also before that one is issued.
      assert.isNull(yield* reconcile(id))
      yield* until("2026-03-02")
      yield* (yield* Usage).voidRecord(late.id)
      assert.deepInclude(yield* reconcile(id), { total: -200n })
      yield* until("2026-03-03")
      assert.isNull(yield* reconcile(id))
      assert.deepStrictEqual(yield* billed, [
        FIRST,
        ["2026-02-01 3.00", "usage calls × 300 2026-01-01 2026-02-01 3.00"],
        ["2026-03-01 2.00", "adjustment calls × 500 2026-01-01 2026-02-01 2.00"],
        ["2026-03-02 -2.00", "credit calls × 300 2026-01-01 2026-02-01 -2.00"],
      ])
      const { data } = yield* (yield* Invoices).list()
      const receipts = data.toReversed().flatMap(({ lines }) => lines.map(({ receipt }) => receipt))
      const receipt = {
        meter: "calls",
        where: {},
        periodStart: millis("2026-01-01"),
        periodEnd: millis("2026-02-01"),
      }
      assert.deepStrictEqual(receipts, [
        null,
        null,
        { ...receipt, total: "300", recordCount: 1 },
        { ...receipt, total: "500", recordCount: 2 },
        { ...receipt, total: "300", recordCount: 1 },
      ])
    }),
  )

  scenario(
    test,
    "what a void invoice would have given back of an earlier one is given back by the next, and what it billed is not billed again",
    Effect.gen(function* () {
      const { customer } = yield* subscribed
      yield* until("2026-01-25")
      yield* use(customer, 300)
      const late = yield* useAt(customer, 500, "2026-01-20")
      yield* until("2026-02-05")
      yield* (yield* Usage).voidRecord(late.id)
      yield* until("2026-03-02")
      const { list, void: voidInvoice } = yield* Invoices
      yield* voidInvoice((yield* list()).data[0]!.id)
      yield* until("2026-05-02")
      const credit = "credit calls × 300 2026-01-01 2026-02-01 -5.00"
      const creditsOf = (yield* billed).map((lines) => lines.filter((line) => line === credit))
      assert.deepStrictEqual(creditsOf, [[], [], [credit], [credit], []])
      const totals = (yield* billed).map(([first]) => first)
      assert.deepStrictEqual(totals, [
        "2026-01-01 20.00",
        "2026-02-01 28.00",
        "2026-03-01 15.00",
        "2026-04-01 15.00",
        "2026-05-01 20.00",
      ])
    }),
  )

  scenario(
    test,
    "usage that is too old for invoices has an event, and is billed by a reconciliation",
    Effect.gen(function* () {
      const { customer, id } = yield* subscribed
      yield* until("2027-02-10")
      yield* useAt(customer, 100, "2026-01-05")
      yield* until("2027-02-28")
      const unbilled = Effect.map(told, (all) => all.filter((line) => line.includes("usage.unbilled")))
      assert.deepStrictEqual(yield* unbilled, [])
      yield* until("2027-03-10")
      assert.deepStrictEqual(yield* unbilled, ["2027-03-01 usage.unbilled"])
      yield* until("2027-05-10")
      assert.lengthOf(yield* unbilled, 1)
      const { reconcile } = yield* Subscriptions
      assert.deepInclude(yield* reconcile(id), { total: 100n })
      yield* until("2027-05-20")
      assert.deepStrictEqual((yield* billed).at(-1), [
        "2027-05-10 1.00",
        "adjustment calls × 100 2026-01-01 2026-02-01 1.00",
      ])
      assert.isNull(yield* reconcile(id))
    }),
  )

  for (const credit of ["prorate", "none"] as const) {
    scenario(
      test,
      `a cancellation now with the credit policy ${credit} bills the usage until then`,
      Effect.gen(function* () {
        const { cancel } = yield* Subscriptions
        const { customer, id } = yield* subscribed
        yield* until("2026-01-05")
        yield* use(customer, 100)
        yield* until("2026-01-11T12:00")
        yield* cancel(id, { at: "now", credit })
        yield* until("2026-02-02")
        // The day of the end was served: 20 of 31 days are left.
        const credits = [
          "credit base 2026-01-01 2026-01-11T12:00 -6.45",
          "credit seats × 2 2026-01-01 2026-01-11T12:00 -6.45",
        ]
        assert.deepStrictEqual(yield* billed, [
          FIRST,
          [
            credit === "prorate" ? "2026-01-11T12:00 -11.90" : "2026-01-11T12:00 1.00",
            ...(credit === "prorate" ? credits : []),
            "usage calls × 100 2026-01-01 2026-01-11T12:00 1.00",
          ],
        ])
        assert.deepStrictEqual(yield* told, [
          ...BEGUN,
          "2026-01-11T12:00 subscription.canceled",
          "2026-01-11T12:00 invoice.created",
          "2026-01-11T12:00 subscription.ended",
          "2026-01-11T12:00 invoice.finalized",
          ...(credit === "prorate"
            ? ["2026-01-11T12:00 invoice.paid", "2026-01-11T12:00 credit.granted"]
            : []),
        ])
      }),
    )
  }

  scenario(
    test,
    "at one instant a period closes and the subscription ends before a change and a next period",
    Effect.gen(function* () {
      const { cancel, change } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* change(id, { plan: "pro", at: "period_end" })
      yield* cancel(id, { at: "period_end" })
      yield* until("2026-02-02")
      assert.deepStrictEqual(yield* billed, [
        FIRST,
        ["2026-02-01 0.00", "usage calls × 0 2026-01-01 2026-02-01 0.00"],
      ])
      assert.deepStrictEqual((yield* told).slice(3), [
        `2026-01-01 subscription.updated {"pending":null}`,
        "2026-01-01 subscription.canceled",
        "2026-01-01 invoice.finalized",
        "2026-02-01 invoice.created",
        "2026-02-01 subscription.ended",
        "2026-02-01 invoice.finalized",
        "2026-02-01 invoice.paid",
      ])
    }),
  )
}

const pauses = (test: InvoicingTest): void => {
  scenario(
    test,
    "a pause credits the unused days, and a resumption charges those that are left",
    Effect.gen(function* () {
      const { pause, resume } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* until("2026-01-11T12:00")
      yield* pause(id)
      yield* until("2026-01-21T12:00")
      yield* resume(id)
      yield* until("2026-02-02")
      const days = "2026-01-21T12:00 2026-02-01"
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-01-11T12:00 -12.90",
          "credit base 2026-01-01 2026-01-11T12:00 -6.45",
          "credit seats × 2 2026-01-01 2026-01-11T12:00 -6.45",
          "usage calls × 0 2026-01-01 2026-01-11T12:00 0.00",
        ],
        ["2026-01-21T12:00 7.10", `advance base ${days} 3.55`, `advance seats × 2 ${days} 3.55`],
        [
          "2026-02-01 20.00",
          `usage calls × 0 ${days} 0.00`,
          "advance base 2026-02-01 2026-03-01 10.00",
          "advance seats × 2 2026-02-01 2026-03-01 10.00",
        ],
      ])
      assert.deepStrictEqual((yield* told).slice(4), [
        "2026-01-11T12:00 invoice.created",
        "2026-01-11T12:00 subscription.paused",
        "2026-01-11T12:00 invoice.finalized",
        "2026-01-11T12:00 invoice.paid",
        "2026-01-11T12:00 credit.granted",
        "2026-01-21T12:00 invoice.created",
        "2026-01-21T12:00 subscription.resumed",
        "2026-01-21T12:00 invoice.finalized",
        "2026-01-21T12:00 invoice.paid",
        "2026-02-01 invoice.created",
        "2026-02-01 subscription.renewed",
        "2026-02-01 invoice.finalized",
        "2026-02-01 credit.exhausted",
      ])
    }),
  )

  scenario(
    test,
    "a pause without a credit resumes by itself on a date, within the old boundaries",
    Effect.gen(function* () {
      const { pause } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* until("2026-01-11")
      yield* pause(id, { credit: "none", resumeAt: at("2026-02-10") })
      yield* until("2026-02-20")
      // 19 of the 28 days of February.
      assert.deepStrictEqual((yield* billed).slice(1), [
        ["2026-01-11 0.00", "usage calls × 0 2026-01-01 2026-01-11 0.00"],
        [
          "2026-02-10 13.58",
          "advance base 2026-02-10 2026-03-01 6.79",
          "advance seats × 2 2026-02-10 2026-03-01 6.79",
        ],
      ])
      assert.deepStrictEqual((yield* told).slice(4), [
        "2026-01-11 invoice.created",
        "2026-01-11 subscription.paused",
        "2026-01-11 invoice.finalized",
        "2026-01-11 invoice.paid",
        "2026-02-10 invoice.created",
        "2026-02-10 subscription.resumed",
        "2026-02-10 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "a resumption with a new anchor begins a period of its own",
    Effect.gen(function* () {
      const { pause, resume } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* until("2026-01-11")
      yield* pause(id, { credit: "none" })
      yield* until("2026-01-21")
      yield* resume(id, { anchor: "now" })
      yield* until("2026-01-22")
      assert.deepStrictEqual((yield* billed).slice(2), [
        [
          "2026-01-21 20.00",
          "advance base 2026-01-21 2026-02-21 10.00",
          "advance seats × 2 2026-01-21 2026-02-21 10.00",
        ],
      ])
    }),
  )
}

const changes = (test: InvoicingTest): void => {
  scenario(
    test,
    "a change now credits the old plan, charges the new one, and bills the usage so far",
    Effect.gen(function* () {
      const { change } = yield* Subscriptions
      const { customer, id } = yield* subscribed
      yield* until("2026-01-05")
      yield* use(customer, 100)
      yield* until("2026-01-11T15:00")
      yield* change(id, { plan: "pro", at: "now" })
      yield* until("2026-01-12")
      yield* use(customer, 100)
      yield* until("2026-02-02")
      // The new plan owns the day of the change: 10 of 31 days for the old one.
      const [served, left] = ["2026-01-01 2026-01-11T15:00", "2026-01-11T15:00 2026-02-01"]
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-01-11T15:00 16.86",
          `credit base ${served} -6.77`,
          `credit seats × 2 ${served} -6.77`,
          `advance base ${left} 21.00`,
          `advance seats × 2 ${left} 8.40`,
          `usage calls × 100 ${served} 1.00`,
        ],
        [
          "2026-02-01 43.90",
          // The total of the period. The 100 calls before the change are subtracted at the new price.
          `usage calls × 200 ${left} 0.50`,
          "advance base 2026-02-01 2026-03-01 31.00",
          "advance seats × 2 2026-02-01 2026-03-01 12.40",
        ],
      ])
      assert.deepStrictEqual((yield* told).slice(4, 7), [
        "2026-01-11T15:00 invoice.created",
        `2026-01-11T15:00 subscription.updated {"plan":{"key":"basic","version":1},"quantities":{"seats":"2"}}`,
        "2026-01-11T15:00 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "a change at the period's end replaces the one that waits, and the event says so",
    Effect.gen(function* () {
      const { change } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* until("2026-01-05")
      yield* change(id, { plan: "pro", at: "period_end" })
      const waiting = yield* change(id, { plan: "yearly", at: "period_end" })
      assert.strictEqual(waiting.pending?.plan?.key, "yearly")
      yield* until("2026-02-02")
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-02-01 310.00",
          "usage calls × 0 2026-01-01 2026-02-01 0.00",
          "advance base 2026-02-01 2027-02-01 310.00",
        ],
      ])
      const [nothing, before, made] = (yield* told).slice(4)
      assert.strictEqual(nothing, `2026-01-05 subscription.updated {"pending":null}`)
      const pending = { plan: { key: "pro", version: 1 }, quantities: {}, at: "period_end" }
      assert.strictEqual(before, `2026-01-05 subscription.updated ${JSON.stringify({ pending })}`)
      assert.match(made!, /^2026-02-01 subscription\.updated \{"plan":\{"key":"basic","version":1\}/)
      assert.deepStrictEqual((yield* told).slice(7), [
        "2026-02-01 invoice.created",
        "2026-02-01 subscription.renewed",
        "2026-02-01 invoice.finalized",
      ])
    }),
  )

  scenario(
    test,
    "more seats are charged now, or by the next invoice; fewer wait for the period's end",
    Effect.gen(function* () {
      const { change } = yield* Subscriptions
      const { id } = yield* subscribed
      yield* until("2026-01-11")
      yield* change(id, { quantities: { seats: "5" } })
      yield* change(id, { quantities: { seats: "3" } })
      yield* until("2026-02-11")
      yield* change(id, { quantities: { seats: "4" }, bill: "next_invoice" })
      yield* until("2026-03-11")
      yield* change(id, { quantities: { seats: "1" }, at: "now" })
      yield* until("2026-03-12")
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-01-11 10.17",
          "credit seats × 2 2026-01-01 2026-01-11 -6.77",
          "advance seats × 5 2026-01-11 2026-02-01 16.94",
        ],
        [
          "2026-02-01 25.00",
          "usage calls × 0 2026-01-01 2026-02-01 0.00",
          "advance base 2026-02-01 2026-03-01 10.00",
          "advance seats × 3 2026-02-01 2026-03-01 15.00",
        ],
        [
          "2026-03-01 33.22",
          "credit seats × 3 2026-02-01 2026-02-11 -9.64",
          "advance seats × 4 2026-02-11 2026-03-01 12.86",
          "usage calls × 0 2026-02-01 2026-03-01 0.00",
          "advance base 2026-03-01 2026-04-01 10.00",
          "advance seats × 4 2026-03-01 2026-04-01 20.00",
        ],
        [
          "2026-03-11 -10.16",
          "credit seats × 4 2026-03-01 2026-03-11 -13.55",
          "advance seats × 1 2026-03-11 2026-04-01 3.39",
        ],
      ])
      assert.deepStrictEqual((yield* told).slice(4, 10), [
        "2026-01-11 invoice.created",
        `2026-01-11 subscription.updated {"plan":{"key":"basic","version":1},"quantities":{"seats":"2"}}`,
        `2026-01-11 subscription.updated {"pending":null}`,
        "2026-01-11 invoice.finalized",
        `2026-02-01 subscription.updated {"plan":{"key":"basic","version":1},"quantities":{"seats":"5"}}`,
        "2026-02-01 invoice.created",
      ])
    }),
  )
}

const zones = (test: InvoicingTest): void => {
  scenario(
    test,
    "boundaries and days are those of the zone, also where its clocks change",
    Effect.gen(function* () {
      yield* until("2026-02-28T23:00")
      const { id: customerId } = yield* newCustomer
      const { change, create } = yield* Subscriptions
      const input = { customerId, plan: "basic", quantities: { seats: "0" }, timezone: "Europe/Berlin" }
      const { id } = yield* create(input)
      yield* until("2026-03-29T10:00")
      yield* change(id, { plan: "pro", at: "now" })
      yield* until("2026-04-01")
      const [served, left] = ["2026-02-28T23:00 2026-03-29T10:00", "2026-03-29T10:00 2026-03-31T22:00"]
      // March has 31 days there, though it is an hour shorter. The change is in the 29th.
      assert.deepStrictEqual((yield* billed).slice(1), [
        [
          "2026-03-29T10:00 2.03",
          `credit base ${served} -0.97`,
          `advance base ${left} 3.00`,
          `advance seats × 0 ${left} 0.00`,
          `usage calls × 0 ${served} 0.00`,
        ],
        [
          "2026-03-31T22:00 31.00",
          `usage calls × 0 ${left} 0.00`,
          "advance base 2026-03-31T22:00 2026-04-30T22:00 31.00",
          "advance seats × 0 2026-03-31T22:00 2026-04-30T22:00 0.00",
        ],
      ])
    }),
  )
}

/** All scenarios of one subscription. */
export const subscriptionScenarios = (test: InvoicingTest): void => {
  starts(test)
  ends(test)
  pauses(test)
  changes(test)
  zones(test)
}
