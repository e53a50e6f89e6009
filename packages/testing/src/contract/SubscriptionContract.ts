/**
 * The contract of `SubscriptionStore` and `LiveSubscriptions`.
 */
import {
  InvoiceStore,
  LiveSubscriptions,
  StorageError,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import {
  draftOf,
  insertCustomer,
  type InvoicingTest,
  minuteOf,
  millisOf,
  periodOf,
  sharedDraftOf,
  subscriptionOf,
  listsNothing,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

const page = (limit: number, id?: string) => ({
  limit,
  cursor: id === undefined ? undefined : ({ direction: "older", id } as const),
})

export const subscriptionContract = (test: InvoicingTest): void => {
  test(
    "a subscription is found and listed as it was stored, newest first",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const [ada, bob] = [yield* insertCustomer, yield* insertCustomer]
      const first = yield* subscriptionOf(ada.id)
      const second = yield* subscriptionOf(bob.id, { dueAt: null, metadata: {} })
      const third = yield* subscriptionOf(ada.id, { state: { ...first.state, phase: "ended" } })
      for (const one of [first, second, third]) yield* store.insert(one)
      same(yield* store.find(second.id), Option.some(second))
      same(yield* store.list({}, firstPage), { data: [third, second, first], hasMore: false })
      same((yield* store.list({ customerId: ada.id }, firstPage)).data, [third, first])
      same((yield* store.list({ phase: "active" }, firstPage)).data, [second, first])
      const other = yield* subscriptionOf(bob.id, {
        state: { ...first.state, plan: { key: "pro", version: 2 } },
      })
      yield* store.insert(other)
      same((yield* store.list({ plan: "pro", version: 2 }, firstPage)).data, [other])
      same((yield* store.list({ plan: "pro" }, page(1, other.id))).data, [third])
      same((yield* store.list({ plan: "basic" }, firstPage)).data, [])
      same(yield* store.list({}, page(1, third.id)), { data: [second], hasMore: true })
      same((yield* store.list({ customerId: ada.id, phase: "ended" }, page(1, third.id))).data, [])
      assert.instanceOf(yield* Effect.flip(store.insert(first)), StorageError)
    }),
  )

  test(
    "no other tenant sees or changes a subscription",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const live = yield* LiveSubscriptions
      const { id: customerId } = yield* insertCustomer
      const own = yield* subscriptionOf(customerId)
      yield* store.insert(own)
      yield* store.savePeriods(own.id, [periodOf(0)])
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(store.find(own.id)), Option.none())
        same(yield* theirs(store.lock(own.id)), Option.none())
        yield* listsNothing(other, store.list, own.id, [{}, { customerId }, { phase: own.state.phase }])
        same(yield* theirs(store.periodsBefore(own.id, 9, 9)), [])
        assert.isFalse(yield* theirs(live.exist(customerId)))
        yield* theirs(store.save({ ...own, metadata: { order: "8" } }))
      }
      same(yield* store.find(own.id), Option.some(own))
    }),
  )

  test(
    "a save replaces the subscription, but not its id, customer and creation",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const transactor = yield* Transactor
      const [ada, bob] = [yield* insertCustomer, yield* insertCustomer]
      const stored = yield* subscriptionOf(ada.id)
      yield* store.insert(stored)
      const changed = {
        ...stored,
        state: { ...stored.state, phase: "paused" as const, pausedAt: millisOf(5), sequence: 3 },
        metadata: { order: "8" },
        dueAt: null,
        updatedAt: minuteOf(5),
      }
      yield* transactor.atomically(
        Effect.gen(function* () {
          same(yield* store.lock(stored.id), Option.some(stored))
          yield* store.save({ ...changed, customerId: bob.id, createdAt: minuteOf(9) })
        }),
      )
      same(yield* store.find(stored.id), Option.some(changed))
      same((yield* store.list({ phase: "paused" }, firstPage)).data, [changed])
    }),
  )

  test(
    "a failed transaction leaves subscriptions and periods as they were",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const transactor = yield* Transactor
      const { id: customerId } = yield* insertCustomer
      const stored = yield* subscriptionOf(customerId)
      const another = yield* subscriptionOf(customerId)
      yield* store.insert(stored)
      yield* store.savePeriods(stored.id, [periodOf(0)])
      const work = Effect.gen(function* () {
        yield* store.lock(stored.id)
        yield* store.save({ ...stored, metadata: {}, dueAt: null })
        yield* store.savePeriods(stored.id, [{ ...periodOf(0), trial: "free" }, periodOf(1)])
        yield* store.insert(another)
        return yield* Effect.fail("no")
      })
      yield* Effect.flip(transactor.atomically(work))
      same((yield* store.list({}, firstPage)).data, [stored])
      same(yield* store.periodsBefore(stored.id, 9, 9), [periodOf(0)])
    }),
  )

  test(
    "periods are stored by their numbers, and the last ones before a number are given in order",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const { id: customerId } = yield* insertCustomer
      const { id, ...stored } = yield* subscriptionOf(customerId)
      yield* store.insert({ id, ...stored })
      yield* store.savePeriods(id, [periodOf(0), periodOf(1)])
      yield* store.savePeriods(id, [{ ...periodOf(1), trial: "charged" }, periodOf(2), periodOf(3)])
      same(yield* store.periodsBefore(id, 3, 2), [{ ...periodOf(1), trial: "charged" }, periodOf(2)])
      same(yield* store.periodsBefore(id, 1, 5), [periodOf(0)])
      same(yield* store.periodsBefore(id, 0, 5), [])
      same(yield* store.periodsBefore(id, 4, 0), [])
    }),
  )

  test(
    "a customer has live subscriptions until all of them have ended",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const live = yield* LiveSubscriptions
      const { id: customerId } = yield* insertCustomer
      assert.isFalse(yield* live.exist(customerId))
      const stored = yield* subscriptionOf(customerId)
      yield* store.insert(stored)
      assert.isTrue(yield* live.exist(customerId))
      yield* store.save({ ...stored, state: { ...stored.state, phase: "ended" } })
      assert.isFalse(yield* live.exist(customerId))
    }),
  )

  test(
    "a group is locked with all of its subscriptions that have not ended or have a draft, in the order of their ids",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const invoices = yield* InvoiceStore
      const { atomically } = yield* Transactor
      const [ada, bob] = [yield* insertCustomer, yield* insertCustomer]
      const grouped = (customerId: typeof ada.id, state: object = {}, invoiceGroup: string | null = "all") =>
        Effect.gen(function* () {
          const made = yield* subscriptionOf(customerId, { invoiceGroup })
          const one = { ...made, state: { ...made.state, ...state } }
          yield* store.insert(one)
          return one
        })
      const ended = { phase: "ended" as const }
      const first = yield* grouped(ada.id)
      const alone = yield* grouped(ada.id, {}, null)
      const over = yield* grouped(ada.id, ended)
      const drafted = yield* grouped(ada.id, ended)
      const sharing = yield* grouped(ada.id, ended)
      const other = yield* grouped(ada.id, {}, "other")
      const dollars = yield* grouped(ada.id, { currency: "USD" })
      const theirs = yield* grouped(bob.id)
      const last = yield* grouped(ada.id, { phase: "paused" })
      yield* invoices.insert(yield* draftOf(drafted, 0))
      yield* invoices.insert(yield* sharedDraftOf([first, sharing], 0))
      const group = (id: typeof first.id) => atomically(store.lockGroup(id))
      same(yield* group(first.id), [first, drafted, sharing, last])
      same(yield* group(last.id), [first, drafted, sharing, last])
      same(yield* group(over.id), [first, over, drafted, sharing, last])
      for (const one of [alone, other, dollars, theirs]) same(yield* group(one.id), [one])
      same(yield* group((yield* subscriptionOf(ada.id)).id), [])
      for (const tenant of yield* otherTenants) same(yield* asTenant(tenant)(group(first.id)), [])
      same(
        (yield* store.list({ customerId: ada.id, invoiceGroup: "all", phase: "paused" }, firstPage)).data,
        [last],
      )
      same((yield* store.list({ invoiceGroup: "other" }, firstPage)).data, [other])
      yield* store.save({ ...other, invoiceGroup: "all" })
      same(yield* store.find(other.id), Option.some(other))
    }),
  )
}
