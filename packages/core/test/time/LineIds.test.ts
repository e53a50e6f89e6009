/**
 * Lines of an invoice have different ids, whatever charges and groups are called.
 */
import { Meters, Plans, Subscriptions, Usage } from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears } from "./billing.ts"

const START = at("2026-01-31T12:00:00Z")
const AFTER_ONE_MONTH = at("2026-03-05T12:00:00Z").epochMilliseconds
const AFTER_TWO_MONTHS = at("2026-04-05T12:00:00Z").epochMilliseconds

const plan = (fields: Pick<PlanDefinition, "charges" | "minimum">): PlanDefinition => ({
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  ...fields,
})

const subscribe = Effect.fnUntraced(function* (definition: PlanDefinition) {
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call", dimensions: ["model"] })
  yield* (yield* Plans).push({ plans: [definition] })
  const customer = yield* newCustomer()
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(DateTime.add(START, { days: 1 }).epochMilliseconds)
  const usage = yield* Usage
  return (model: string, timestamp?: DateTime.Utc) =>
    usage.record({
      customerId: customer.id,
      productId: "api",
      unit: "call",
      quantity: 100,
      dimensions: { model },
      ...(timestamp === undefined ? {} : { timestamp }),
    })
})

describe("the ids of lines", () => {
  it.effect("tell the minimum of a plan from a charge of that name", () =>
    Effect.gen(function* () {
      const use = yield* subscribe(
        plan({
          minimum: { EUR: "50.00" },
          charges: [{ key: "minimum", model: "unit", meter: "calls", price: { EUR: "0.01" } }],
        }),
      )
      yield* use("small")
      yield* advanceTo(AFTER_ONE_MONTH)
      const [invoice] = yield* allInvoices
      assert.deepStrictEqual(
        invoice?.lines.map(({ amount, id }) => [id, amount]),
        [
          ["0.0.minimum", 100n],
          ["0.0~minimum", 4_900n],
        ],
      )
    }).pipe(inYears(START.epochMilliseconds)),
  )

  it.effect("tell a credit from a group whose name looks like one", () =>
    Effect.gen(function* () {
      const price = { EUR: "0.10" }
      const use = yield* subscribe(
        plan({
          charges: [
            { key: "base", model: "flat", price: { EUR: "20.00" } },
            { key: "calls", model: "unit", meter: "calls", by: "model", price },
          ],
        }),
      )
      const { record } = yield* use("eu")
      yield* advanceTo(AFTER_ONE_MONTH)
      const billed = (yield* allInvoices).at(-1)
      const line = billed?.lines.find(({ charge }) => charge === "calls")
      assert.strictEqual(line?.id, "0.0.calls.eu")
      yield* (yield* Usage).voidRecord(record.id)
      const late = at("2026-02-20T12:00:00Z")
      const looksLike = [`eu.${billed?.id}.${line?.id}`, `eu~${billed?.id}.${line?.id}`]
      for (const model of looksLike) yield* use(model, late)
      yield* advanceTo(AFTER_TWO_MONTHS)
      const next = (yield* allInvoices).at(-1)
      assert.strictEqual(next?.status, "open")
      const ofFirst = next!.lines.filter(({ id }) => id.startsWith("0.0.calls"))
      assert.deepStrictEqual(
        ofFirst.map(({ amount }) => amount).toSorted((a, b) => Number(a - b)),
        [-1_000n, 1_000n, 1_000n],
      )
    }).pipe(inYears(START.epochMilliseconds)),
  )
})
