/**
 * Invoices and backlogs that are larger than one invoice, or one transaction, may be.
 */
import {
  BillingRuns,
  DueStore,
  type InvoiceItem,
  InvoiceItems,
  Meters,
  Plans,
  StorageError,
  Subscriptions,
  SubscriptionStore,
  Transactor,
  Usage,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { at, newCustomer } from "../world.ts"
import { advanceTo, allInvoices, inYears, pro, pushPro } from "./billing.ts"

const START = at("2026-01-01T00:00:00Z")
const inWorld = inYears(START.epochMilliseconds)
const later = (parts: Partial<DateTime.DateTime.PartsForMath>) => DateTime.add(START, parts).epochMilliseconds

/** More items than are looked at for one invoice: 20 pages of 250. */
const ITEMS = 5_300

const createItems = (input: Pick<InvoiceItem.CreateInvoiceItem, "customerId" | "subscriptionId">) =>
  Effect.gen(function* () {
    const { create } = yield* InvoiceItems
    const item = { ...input, currency: "EUR", amount: 1n, description: "Item" }
    for (let n = 0; n < ITEMS; n++) yield* create(item)
  })

/** The ids of the items that are on invoices. */
const billedItems = Effect.map(allInvoices, (all) =>
  all.flatMap(({ lines }) => lines.filter(({ kind }) => kind === "item").map(({ id }) => id)),
)

describe("a customer with more pending items than an invoice may have", () => {
  it.effect(
    "has all of them on later invoices, each once",
    () =>
      Effect.gen(function* () {
        yield* pushPro
        const { id: customerId } = yield* newCustomer()
        yield* (yield* Subscriptions).create({ customerId, plan: "pro" })
        yield* createItems({ customerId })
        yield* advanceTo(later({ months: 1, hours: 2 }))
        assert.lengthOf(yield* billedItems, 250)
        yield* advanceTo(later({ months: 23, hours: 2 }))
        const ids = yield* billedItems
        assert.lengthOf(ids, ITEMS)
        assert.strictEqual(new Set(ids).size, ITEMS)
      }).pipe(inWorld),
    60_000,
  )

  it.effect(
    "has those of a subscription that ended on the invoices of another one",
    () =>
      Effect.gen(function* () {
        yield* pushPro
        const { id: customerId } = yield* newCustomer()
        const { cancel, create } = yield* Subscriptions
        const { id: subscriptionId } = yield* create({ customerId, plan: "pro" })
        yield* createItems({ customerId, subscriptionId })
        yield* cancel(subscriptionId, { at: "now" })
        const { list } = yield* InvoiceItems
        let startingAfter: InvoiceItem.InvoiceItemId | undefined
        for (let left = ITEMS; left > 0;) {
          const cursor = startingAfter === undefined ? {} : { startingAfter }
          const { data } = yield* list({ limit: 100, status: "pending", ...cursor })
          assert.isNotEmpty(data)
          for (const item of data) assert.strictEqual(item.subscriptionId, null)
          startingAfter = data.at(-1)?.id
          left -= data.length
          if (data.length < 100) break
        }
      }).pipe(inWorld),
    60_000,
  )
})

describe("an invoice of more lines than one may have", () => {
  it.effect(
    "is tried 10 times, and then set aside with the reason",
    () =>
      Effect.gen(function* () {
        yield* pushPro
        const meter = { key: "tokens", productId: "llm", unit: "token", dimensions: ["model"] } as const
        yield* (yield* Meters).create({ ...meter, aggregation: "sum" })
        const charges = Array.from(
          { length: 11 },
          (_, n) =>
            ({
              key: `tokens${n}`,
              model: "unit",
              meter: "tokens",
              by: "model",
              price: { EUR: "0.01" },
            }) as const,
        )
        yield* (yield* Plans).push({ plans: [{ ...pro, charges }] })
        const { id: customerId } = yield* newCustomer()
        const { create, get } = yield* Subscriptions
        const { id } = yield* create({ customerId, plan: "pro" })
        yield* advanceTo(later({ days: 2 }))
        const { record } = yield* Usage
        const of = { customerId, productId: "llm", unit: "token", quantity: 100 }
        for (let n = 0; n < 1_000; n++) yield* record({ ...of, dimensions: { model: `m${n}` } })
        yield* TestClock.setTime(later({ months: 1 }))
        yield* (yield* BillingRuns).runDue()
        assert.deepInclude((yield* get(id)).failure, {
          attempts: 1,
          problem: "lines must be at most 10000 lines",
        })
        for (let tries = 1; tries < 10; tries++) {
          yield* TestClock.adjust("6 hours")
          yield* (yield* BillingRuns).runDue()
        }
        assert.deepInclude((yield* get(id)).failure, { attempts: 10, retryAt: null })
        assert.deepInclude(yield* (yield* DueStore).countDue(yield* DateTime.now), { setAside: 1 })
      }).pipe(inWorld),
    60_000,
  )
})

/** How many times a transaction may store a subscription before it takes too long. */
const MOST_SAVES = 1

const tooLate = new StorageError({
  operation: "Transactor.atomically",
  retryable: true,
  cause: new Error("no answer from the database within 4500 ms"),
})

/** Runs on a storage whose transactions may not do much. */
const slowRuns = Layer.unwrap(
  Effect.gen(function* () {
    const { atomically, ...transactor } = yield* Transactor
    const { save, ...store } = yield* SubscriptionStore
    let saves = 0
    const begin = Effect.sync(() => {
      saves = 0
    })
    return Layer.fresh(BillingRuns.layerManual).pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.succeed(Transactor, {
            ...transactor,
            atomically: (effect) => Effect.andThen(begin, atomically(effect)),
          }),
          Layer.succeed(SubscriptionStore, {
            ...store,
            save: (one) => (++saves > MOST_SAVES ? Effect.fail(tooLate) : save(one)),
          }),
        ),
      ),
    )
  }),
)

describe("a backlog that is more than a transaction may take", () => {
  it.effect("is billed by fewer periods at a time", () =>
    Effect.gen(function* () {
      yield* pushPro
      // A draft waits for longer than four periods, so that a transaction bills several.
      yield* (yield* Plans).push({
        plans: [{ ...pro, interval: { unit: "week", count: 1 }, policy: { grace_hours: 720 } }],
      })
      const { id: customerId } = yield* newCustomer()
      const { create, get } = yield* Subscriptions
      const { id } = yield* create({ customerId, plan: "pro" })
      yield* TestClock.setTime(later({ days: 84, hours: 1 }))
      const { runDue } = yield* BillingRuns
      yield* runDue()
      assert.deepInclude((yield* get(id)).failure, { attempts: 1 })
      for (let minutes = 0; minutes < 30; minutes++) {
        yield* TestClock.adjust("1 minute")
        yield* runDue()
      }
      const { failure, period } = yield* get(id)
      assert.deepStrictEqual([failure, period?.number], [null, 12])
    }).pipe(Effect.provide(slowRuns), inWorld),
  )
})
