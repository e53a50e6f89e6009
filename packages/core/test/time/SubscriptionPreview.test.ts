import {
  Coupons,
  type Invoice,
  Plans,
  type PreviewSubscription,
  type Subscription,
  Subscriptions,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { fc, holdsEffect } from "../property.ts"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears, pro, pushPro, use } from "./billing.ts"

const START = at("2026-01-31T12:00:00.000Z").epochMilliseconds
const HOUR = 3_600_000

/** With seats, so that quantities can change. */
const team = {
  ...pro,
  key: "team",
  charges: [
    ...pro.charges,
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "7.00" } } as const,
  ],
}

type Change = Omit<Extract<PreviewSubscription, { action: "change" }>, "subscriptionId">
type Ending = Omit<Extract<PreviewSubscription, { action: "cancel" }>, "subscriptionId">
type Pausing = Omit<Extract<PreviewSubscription, { action: "pause" }>, "subscriptionId">
type Resuming = Omit<Extract<PreviewSubscription, { action: "resume" }>, "subscriptionId">
type Uncanceling = Omit<Extract<PreviewSubscription, { action: "uncancel" }>, "subscriptionId">

const time = fc.constantFrom("now", "period_end")
const credit = fc.constantFrom("prorate", "none")

const action: fc.Arbitrary<Change | Ending | Pausing | Resuming | Uncanceling> = fc.oneof(
  fc.record<Change>({ action: fc.constant("change"), plan: fc.constantFrom("pro", "team"), at: time }),
  fc.record<Change>({
    action: fc.constant("change"),
    quantities: fc.record({ seats: fc.constantFrom("0", "1", "2.5", "9") }),
    bill: fc.constantFrom("now", "next_invoice"),
  }),
  fc.record<Ending>({ action: fc.constant("cancel"), at: time, credit }),
  fc.record<Pausing>({ action: fc.constant("pause"), credit }),
  fc.record<Resuming>({ action: fc.constant("resume"), anchor: fc.constantFrom("keep", "now") }),
  fc.record<Uncanceling>({ action: fc.constant("uncancel") }),
)

const step = fc.record({
  // Commands at one instant find the draft of the one before.
  hours: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000 })),
  calls: fc.integer({ min: 0, max: 3_000 }),
  action,
})

/** Half of the subscriptions redeem a coupon that applies to two of their periods. */
const redeeming = fc.constantFrom({}, { coupon: "HALF" })

const beginning = fc.record({
  plan: fc.constant("team"),
  quantities: fc.constant({ seats: "3" }),
  startAt: fc.integer({ min: -1_500, max: 300 }).map((hours) => DateTime.makeUnsafe(START + hours * HOUR)),
  trial: fc.constantFrom(null, { days: 5 }),
})

/** What an invoice states. The ids of new objects differ. */
const stated = ({ lines, periodEnd, periodStart, total }: Invoice.Invoice) => ({
  periodStart,
  periodEnd,
  total,
  lines: lines.map(({ amount, charge, kind, origin, quantity, steps }) => ({
    amount,
    charge,
    kind,
    quantity,
    period: origin?.period,
    segment: origin?.segment,
    steps: steps.length,
  })),
})

/** Does what an input previews. */
const perform = Effect.fnUntraced(function* (input: PreviewSubscription) {
  const subscriptions = yield* Subscriptions
  switch (input.action) {
    case "create":
      return yield* subscriptions.create(fieldsOf(input))
    case "change":
      return yield* subscriptions.change(input.subscriptionId, fieldsOf(input))
    case "cancel":
      return yield* subscriptions.cancel(input.subscriptionId, fieldsOf(input))
    case "uncancel":
      return yield* subscriptions.uncancel(input.subscriptionId)
    case "pause":
      return yield* subscriptions.pause(input.subscriptionId, fieldsOf(input))
    case "resume":
      return yield* subscriptions.resume(input.subscriptionId, fieldsOf(input))
  }
})

const fieldsOf = <A extends { readonly action: string; readonly subscriptionId?: string }>(
  input: A,
): Omit<A, "action" | "subscriptionId"> => {
  const { action: _, subscriptionId: __, ...fields } = input
  return fields
}

/** The subscription without what differs between a preview and what is stored. */
const state = (subscription: Subscription.Subscription) => ({ ...subscription, id: null })

/** Runs a command after its preview. Checks that the two agree, and that the preview wrote nothing. */
const both = Effect.fnUntraced(function* (input: PreviewSubscription) {
  const { snapshot } = yield* MemoryInspector
  const before = yield* snapshot
  const preview = yield* Effect.exit((yield* Subscriptions).preview(input))
  assert.deepStrictEqual(yield* snapshot, before)
  const known = new Set((yield* allInvoices).map(({ id }) => id))
  const done = yield* Effect.exit(perform(input))
  if (Exit.isFailure(preview) || Exit.isFailure(done)) {
    assert.deepStrictEqual(preview._tag, done._tag)
    return undefined
  }
  assert.deepStrictEqual(state(preview.value.subscription), state(done.value))
  const made = (yield* allInvoices).filter(({ id }) => !known.has(id))
  assert.deepStrictEqual(preview.value.invoices.map(stated), made.map(stated))
  return { id: done.value.id, nextInvoice: preview.value.nextInvoice }
})

/** The first invoice after those that there are, if there is one within the next instants. */
const nextInvoice = Effect.fnUntraced(function* (id: string) {
  const known = new Set((yield* allInvoices).map((invoice) => invoice.id))
  for (let instants = 0; instants < 24; instants++) {
    const { nextAt } = yield* (yield* Subscriptions).get(id)
    if (nextAt === null) return undefined
    yield* advanceTo(nextAt)
    const next = (yield* allInvoices).find((invoice) => !known.has(invoice.id))
    if (next !== undefined) return next
  }
  return undefined
})

describe("Subscriptions.preview", () => {
  it.effect(
    "is what then happens at the same instant, and stores nothing",
    () =>
      holdsEffect(
        fc.tuple(beginning, redeeming, fc.array(step, { maxLength: 5 })),
        ([first, redeemed, steps]) =>
          Effect.gen(function* () {
            yield* pushPro
            yield* (yield* Plans).push({ plans: [team] })
            const coupon = { code: "HALF", name: "Half off", percent: "50", periods: 2 }
            yield* (yield* Coupons).create({ ...coupon, duration: "periods" })
            const customer = yield* newCustomer()
            let last = yield* both({ action: "create", customerId: customer.id, ...first, ...redeemed })
            const subscriptionId = last!.id
            let now = START
            for (const { action: input, calls, hours } of steps) {
              now += hours * HOUR
              yield* advanceTo(now)
              if (calls > 0) yield* use(customer, calls)
              last = (yield* both({ ...input, subscriptionId })) ?? undefined
            }
            if (last === undefined) return
            const next = yield* nextInvoice(subscriptionId)
            assert.deepStrictEqual(
              last.nextInvoice === null ? undefined : stated(last.nextInvoice),
              next === undefined ? undefined : stated(next),
            )
          }).pipe(inYears(START)),
        40,
      ),
    120_000,
  )
})
