import { refundableOf } from "@billwright/engine"
import { assert, describe, it } from "vitest"
import type { Invoice, Subscription } from "../../app/api/Types.ts"
import { stepFrom } from "../../app/clocks/ClockStep.ts"
import { balancesOf } from "../../app/credits/Balances.ts"
import { leftOf } from "../../app/payments/Refundable.ts"
import { rowsOf } from "../../app/plans/TermRows.ts"
import { timelineOf } from "../../app/subscriptions/Timeline.ts"

const DAY_MILLIS = 86_400_000
const NOW = Date.parse("2026-11-21T09:30:00.000Z")

describe("the balance of credits over time", () => {
  it("goes back from what is available now, entry by entry", () => {
    const entry = (at: string, available: number) => ({ at, available })
    const days = balancesOf(
      60n,
      [
        entry("2026-11-21T08:00:00.000Z", -10),
        entry("2026-11-19T23:59:59.999Z", -30),
        entry("2026-11-19T00:00:00.000Z", 100),
      ],
      NOW,
    )
    assert.deepEqual(
      days.map(({ available, start }) => [new Date(start).toISOString().slice(0, 10), Number(available)]),
      [
        ["2026-11-19", 70],
        ["2026-11-20", 70],
        ["2026-11-21", 60],
      ],
    )
  })

  it("has 60 days at most, of which the last is today, and today alone without entries", () => {
    const long = balancesOf(5n, [{ at: "2020-01-01T00:00:00.000Z", available: 5 }], NOW)
    assert.strictEqual(long.length, 60)
    assert.strictEqual(long.at(-1)?.start, Math.floor(NOW / DAY_MILLIS) * DAY_MILLIS)
    assert.strictEqual(balancesOf(0n, [], NOW).length, 1)
  })
})

describe("what is left to refund", () => {
  const page = <A>(data: ReadonlyArray<A>, has_more = false) => ({ data, has_more })
  const none = page<never>([])
  const given = ["pending", "unresolved", "succeeded", "failed"] as const
  const disputed = ["open", "won", "lost"] as const

  it("is what the engine says, for refunds and disputes in each state, beyond 2^53", () => {
    const amount = 10n ** 30n
    for (const refund of given)
      for (const dispute of disputed)
        for (const status of ["open", "succeeded", "closed"] as const) {
          const refunds = [{ status: refund, amount: 7n }]
          const disputes = [{ status: dispute, amount: amount - 8n }]
          const more = { reversed: 0n, isCredited: false }
          const wire = <S>(all: ReadonlyArray<{ readonly status: S; readonly amount: bigint }>) =>
            page(all.map((one) => ({ ...one, amount: one.amount as unknown as number })))
          assert.strictEqual(
            leftOf({ amount, status }, wire(refunds), wire(disputes)),
            refundableOf(
              { amount, status, applied: amount, overpaid: 0n },
              {
                refunds: refunds.map((one) => ({ ...one, ...more })),
                disputes: disputes.map((one) => ({ ...one, reversed: 0n })),
              },
            ),
          )
        }
  })

  it("is not known before all of them are", () => {
    const payment = { amount: 100, status: "succeeded" } as const
    assert.strictEqual(leftOf(payment, none, none), 100n)
    assert.isUndefined(leftOf(payment, undefined, none))
    assert.isUndefined(leftOf(payment, none, page([], true)))
    assert.isUndefined(leftOf(payment, page([{ amount: 1, status: "succeeded" }], true), none))
  })
})

describe("a step of a test clock", () => {
  it("is of the calendar, and stays in the month", () => {
    assert.strictEqual(stepFrom("2025-01-31T10:00:00.000Z", "month"), "2025-02-28T10:00:00.000Z")
    assert.strictEqual(stepFrom("2024-02-29T00:00:00.000Z", "year"), "2025-02-28T00:00:00.000Z")
    assert.strictEqual(stepFrom("2025-12-31T23:00:00.000Z", "day"), "2026-01-01T23:00:00.000Z")
    assert.strictEqual(stepFrom("2025-12-31T23:00:00.000Z", "week"), "2026-01-07T23:00:00.000Z")
  })
})

describe("the timeline of a subscription", () => {
  const subscription = {
    phase: "active",
    plan: { key: "pro", version: 1 },
    quantities: {},
    pending: { plan: { key: "team", version: 3 }, quantities: { seats: "5" }, at: "period_end", bill: "now" },
    created_at: "2026-10-01T00:00:00.000Z",
    start_at: "2026-10-01T00:00:00.000Z",
    activated_at: "2026-10-01T00:00:00.000Z",
    trial_end_at: null,
    current_period_end: "2026-12-01T00:00:00.000Z",
    paused_at: null,
    resumes_at: null,
    canceled_at: null,
    ends_at: null,
    ended_at: null,
    past_due_since: null,
  } as unknown as Subscription
  const invoice = (more: object) =>
    ({
      id: "inv_1",
      number: null,
      issued_at: null,
      finalizes_at: null,
      currency: "EUR",
      total: 5,
      ...more,
    }) as Invoice

  it("is in the order of time, with a change that waits for the end of the period", () => {
    const moments = timelineOf(
      subscription,
      [invoice({ number: "2026-1", issued_at: "2026-11-01T01:00:00.000Z" })],
      invoice({ id: "inv_2", period_end: "2026-12-01T00:00:00.000Z" }),
    )
    assert.deepEqual(
      moments.map(({ at, text }) => `${at.slice(0, 10)} ${text}`),
      [
        "2026-10-01 Created",
        "2026-10-01 Starts",
        "2026-11-01 Invoice 2026-1",
        "2026-12-01 Renews",
        "2026-12-01 Changes to team, version 3, 5 seats",
        "2026-12-01 The next invoice, with the usage so far",
      ],
    )
  })

  it("does not renew when it ends", () => {
    const ending = { ...subscription, pending: null, ends_at: "2026-12-01T00:00:00.000Z" }
    const texts = timelineOf(ending, [], null).map(({ text }) => text)
    assert.notInclude(texts, "Renews")
    assert.include(texts, "Ends")
  })
})

describe("the terms of versions side by side", () => {
  const interval = { unit: "month", count: 1 } as const
  const charge = (key: string, price: string) => ({ key, model: "flat", price: { EUR: price } }) as const
  const terms = (...charges: ReadonlyArray<ReturnType<typeof charge>>) => ({
    currencies: ["EUR", "USD"],
    interval,
    charges: [...charges],
  })

  it("are compared charge by charge, wherever a charge stands in the list", () => {
    const rows = rowsOf([
      terms(charge("base", "20"), charge("support", "5")),
      terms(charge("support", "5"), charge("base", "25"), charge("sso", "9")),
    ])
    const different = rows.filter(({ differs }) => differs)
    assert.deepEqual(
      different.map(({ name, values }) => [name, ...values]),
      [
        ["charges › base › price › EUR", "20", "25"],
        ["charges › sso › model", undefined, "flat"],
        ["charges › sso › price › EUR", undefined, "9"],
      ],
    )
    assert.deepInclude(rows[0], { name: "currencies", values: ["EUR, USD", "EUR, USD"] })
  })
})
