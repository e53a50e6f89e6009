/**
 * Previews of commands: they cost what the command then costs, and leave nothing behind.
 */
import { DueStore, Invoices, type PreviewSubscription, Subscriptions } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { billed, inShort, newCustomer, scenario, subscribed, told, until, use } from "./Scenario.ts"

/** Everything that a preview could have written. */
const everything = Effect.gen(function* () {
  const subscriptions = (yield* (yield* Subscriptions).list()).data
  const invoices = (yield* (yield* Invoices).list()).data
  return { subscriptions, invoices, told: yield* told, next: yield* (yield* DueStore).nextDueAt }
})

/** A preview in short. Fails if it has written something. */
const previewed = Effect.fnUntraced(function* (input: PreviewSubscription) {
  const before = yield* everything
  const preview = yield* (yield* Subscriptions).preview(input)
  assert.deepStrictEqual(yield* everything, before)
  const next = preview.nextInvoice
  return {
    subscription: preview.subscription,
    now: preview.invoices.map(inShort),
    next: next === null ? null : inShort(next),
  }
})

/** Lines as they are once their invoice is issued at an instant. */
const issued = (instant: string, [head, ...lines]: ReadonlyArray<string>) => [
  head!.replace("draft", instant),
  ...lines,
]

const february = (seats: string, amount: string) => [
  "advance base 2026-02-01 2026-03-01 10.00",
  `advance seats × ${seats} 2026-02-01 2026-03-01 ${amount}`,
]

export const previewScenarios = (test: InvoicingTest): void => {
  scenario(
    test,
    "a preview of a creation has its first invoice and the next one, and stores nothing",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const input = { customerId, plan: "basic", quantities: { seats: "3" } }
      const { next, now, subscription } = yield* previewed({ action: "create", ...input })
      assert.deepInclude(subscription, { customerId, phase: "active" })
      assert.deepStrictEqual(now, [
        [
          "draft 25.00",
          "advance base 2026-01-01 2026-02-01 10.00",
          "advance seats × 3 2026-01-01 2026-02-01 15.00",
        ],
      ])
      assert.deepStrictEqual(next, [
        "draft 25.00",
        "usage calls × 0 2026-01-01 2026-02-01 0.00",
        ...february("3", "15.00"),
      ])
      yield* (yield* Subscriptions).create(input)
      yield* until("2026-02-01")
      assert.deepStrictEqual(yield* billed, [issued("2026-01-01", now[0]!), issued("2026-02-01", next!)])
      const [first] = (yield* (yield* Invoices).list()).data.toReversed()
      assert.strictEqual(first?.number, "2026-0001")
    }),
  )

  scenario(
    test,
    "previews of commands have what they credit and charge, and the invoice after that",
    Effect.gen(function* () {
      const { customer, id: subscriptionId } = yield* subscribed
      yield* until("2026-01-05")
      yield* use(customer, 100)
      yield* until("2026-01-11")
      const seats = yield* previewed({ action: "change", subscriptionId, quantities: { seats: "5" } })
      assert.deepStrictEqual(seats.now, [
        [
          "draft 10.17",
          "credit seats × 2 2026-01-01 2026-01-11 -6.77",
          "advance seats × 5 2026-01-11 2026-02-01 16.94",
        ],
      ])
      assert.deepStrictEqual(seats.next, [
        "draft 36.00",
        "usage calls × 100 2026-01-01 2026-02-01 1.00",
        ...february("5", "25.00"),
      ])
      const fewer = yield* previewed({ action: "change", subscriptionId, quantities: { seats: "1" } })
      assert.deepStrictEqual([fewer.now, fewer.next?.[0]], [[], "draft 16.00"])
      assert.deepStrictEqual(fewer.subscription.pending?.quantities, { seats: "1" })
      const ended = yield* previewed({ action: "cancel", subscriptionId, at: "period_end" })
      assert.deepStrictEqual(
        [ended.now, ended.next],
        [[], ["draft 1.00", "usage calls × 100 2026-01-01 2026-02-01 1.00"]],
      )
      const canceled = yield* previewed({ action: "cancel", subscriptionId, at: "now", credit: "none" })
      assert.deepStrictEqual(canceled.now, [["draft 1.00", "usage calls × 100 2026-01-01 2026-01-11 1.00"]])
      assert.isNull(canceled.next)
      const paused = yield* previewed({ action: "pause", subscriptionId })
      assert.deepStrictEqual([paused.now[0]?.[0], paused.next], ["draft -12.54", null])
    }),
  )

  scenario(
    test,
    "a preview fails as its command does",
    Effect.gen(function* () {
      const { id: subscriptionId } = yield* subscribed
      const { preview } = yield* Subscriptions
      const failures = yield* Effect.forEach(
        [
          { action: "resume", subscriptionId },
          { action: "change", subscriptionId, plan: "gold", at: "now" },
          { action: "change", subscriptionId, plan: "pro" },
        ] satisfies ReadonlyArray<PreviewSubscription>,
        (input) => Effect.map(Effect.flip(preview(input)), ({ _tag }) => _tag),
      )
      assert.deepStrictEqual(failures, ["ActionUnavailable", "PlanNotFound", "InvalidInput"])
    }),
  )
}
