/**
 * The decimals of a unit that is in use don't change: what would mix amounts of both is refused, and goes on when they are back.
 */
import {
  Billing,
  IdGenerator,
  InvalidInput,
  Invoices,
  Meters,
  Plans,
  RateCards,
  Subscriptions,
  Tenant,
  TokenUsages,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo } from "../time/billing.ts"
import { acme, at, newCustomer } from "../world.ts"

const studio = {
  key: "studio",
  name: "Studio",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "calls", model: "unit", meter: "calls", burns: "credits", price: { credits: "1" } }],
} as const
const card = { key: "llm", unit: "credits", models: { large: { input: "2.00" } } }

const subscribed = Effect.gen(function* () {
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({ plans: [studio] })
  yield* (yield* RateCards).push({ rateCards: [card] })
  const { id: customerId } = yield* newCustomer()
  const { id } = yield* (yield* Subscriptions).create({ customerId, plan: "studio" })
  yield* advanceTo(at("2026-02-02T00:00:00Z").epochMilliseconds)
  return { customerId, id }
})

const upcoming = (id: string) => Effect.flatMap(Invoices, (invoices) => invoices.upcoming(id))

it.effect("refuses to bill and to price in other decimals than before", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(at("2026-01-01T00:00:00Z").epochMilliseconds)
    const stores = yield* Layer.build(Layer.merge(Memory.layer, IdGenerator.layerSeeded(1)))
    const withUnits = (credits: Billing.BillingOptions["credits"] = {}) =>
      Effect.provide(
        Layer.merge(
          Billing.layerWithIds({ credits }).pipe(Layer.provideMerge(Layer.succeedContext(stores))),
          Layer.succeed(Tenant.CurrentTenant, acme),
        ),
      )
    const changed = { units: { credits: { decimals: 2 } } }
    const { customerId, id } = yield* subscribed.pipe(withUnits())

    const bill = yield* Effect.flip(upcoming(id).pipe(withUnits(changed)))
    assert.instanceOf(bill, InvalidInput)
    assert.match(
      bill.message,
      /^credits\.units\.credits\.decimals is 2, but was 0 when inv_\w+ burnt credits: the decimals of a unit that is in use can't change$/,
    )
    const call = { customerId, rateCard: "llm", model: "large", tokens: { input: 1_000_000 } }
    const price = Effect.flatMap(TokenUsages, (usages) => usages.create(call))
    const refused = yield* Effect.flip(price.pipe(withUnits(changed)))
    assert.strictEqual(
      refused.message,
      "rateCard is llm@1 with 0 decimals, and credits.units.credits.decimals is 2: push the card again",
    )

    assert.strictEqual((yield* price.pipe(withUnits())).amount, 2n)
    assert.isNotNull(yield* upcoming(id).pipe(withUnits({ units: { credits: {} } })))
  }),
)
