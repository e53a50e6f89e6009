/**
 * The contract of `InvoiceStore`.
 */
import {
  DueStore,
  InvoiceStore,
  MAX_CLAIMED_SUBJECTS,
  StorageError,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option, Struct } from "effect"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import {
  draftOf,
  issue,
  insertCustomer,
  type InvoicingTest,
  lineOf,
  listsNothing,
  millisOf,
  minuteOf,
  issuedOf,
  seriesOf,
  subscriptionOf,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

/** A subscription of a new customer, stored. */
const subscribed = Effect.gen(function* () {
  const { id } = yield* insertCustomer
  const subscription = yield* subscriptionOf(id, { dueAt: null })
  yield* (yield* SubscriptionStore).insert(subscription)
  return subscription
})

export const invoiceContract = (test: InvoicingTest): void => {
  test(
    "an invoice is found and listed as it was stored, newest first",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const [ours, theirs] = [yield* subscribed, yield* subscribed]
      const first = yield* draftOf(ours, 0)
      const second = yield* draftOf(theirs, 0)
      const third = yield* draftOf(ours, 1)
      for (const one of [first, second, third]) yield* store.insert(one)
      same(yield* store.find(first.id), Option.some(first))
      same((yield* store.list({}, firstPage)).data, [third, second, first])
      same((yield* store.list({ subscriptionId: ours.id }, firstPage)).data, [third, first])
      same((yield* store.list({ customerId: theirs.customerId }, firstPage)).data, [second])
      same((yield* store.list({ status: "open" }, firstPage)).data, [])
      const older = { limit: 1, cursor: { direction: "older", id: third.id } } as const
      same(yield* store.list({}, older), { data: [second], hasMore: true })
    }),
  )

  test(
    "no other tenant sees or changes an invoice or a series",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const transactor = yield* Transactor
      const subscription = yield* subscribed
      const own = yield* draftOf(subscription, 0)
      yield* store.insert(own)
      // No number is taken: a storage may refuse one that no document has.
      yield* transactor.atomically(
        Effect.andThen(
          store.lockSeries("credit_note"),
          store.saveSeries("credit_note", { ...seriesOf("CN-", 0), year: null, lastIssuedAt: null }),
        ),
      )
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(store.find(own.id)), Option.none())
        same(yield* theirs(transactor.atomically(store.lock(own.id))), Option.none())
        yield* listsNothing(other, store.list, own.id, [
          {},
          { customerId: own.customerId },
          { subscriptionId: subscription.id },
          { status: "draft" },
        ])
        same(yield* theirs(store.billedLines(subscription.id, 0)), [])
        same(yield* theirs(transactor.atomically(store.lockDrafts(subscription.id))), [])
        same(yield* theirs(transactor.atomically(store.lockSeries("credit_note"))), Option.none())
        yield* theirs(store.save({ ...own, dueAt: null }))
      }
      same(yield* store.find(own.id), Option.some(own))
    }),
  )

  test(
    "a subscription has one invoice at most for a period and a segment",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const subscription = yield* subscribed
      const first = yield* draftOf(subscription, 0)
      yield* store.insert(first)
      assert.instanceOf(yield* Effect.flip(store.insert(yield* draftOf(subscription, 0))), StorageError)
      assert.instanceOf(yield* Effect.flip(store.insert(first)), StorageError)
      const change = yield* draftOf(subscription, 0)
      yield* store.insert({ ...change, cause: { ...change.cause!, segment: 1 } })
      assert.lengthOf((yield* store.list({}, firstPage)).data, 2)
    }),
  )

  test(
    "a number is that of one invoice",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const subscription = yield* subscribed
      const first = yield* issue(yield* draftOf(subscription, 0))
      const second = yield* draftOf(subscription, 1)
      yield* store.insert(second)
      assert.instanceOf(yield* Effect.flip(store.save(issuedOf(second))), StorageError)
      const third = issuedOf(yield* draftOf(subscription, 2))
      assert.instanceOf(yield* Effect.flip(store.insert(third)), StorageError)
      same(yield* store.find(third.id), Option.none())
      same(yield* store.find(first.id), Option.some(first))
      same(yield* store.find(second.id), Option.some(second))
    }),
  )

  test(
    "a draft that is removed is gone, with its lines, its cause and its place in the queue",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const transactor = yield* Transactor
      const subscription = yield* subscribed
      const draft = yield* draftOf(subscription, 0, { dueAt: millisOf(1) })
      yield* store.insert(draft)
      const remove = Effect.andThen(store.lock(draft.id), store.remove(draft.id))
      yield* Effect.flip(transactor.atomically(Effect.andThen(remove, Effect.fail("no"))))
      same(yield* store.find(draft.id), Option.some(draft))
      for (const other of yield* otherTenants) yield* asTenant(other)(store.remove(draft.id))
      same(yield* store.find(draft.id), Option.some(draft))
      yield* transactor.atomically(remove)
      same(yield* store.find(draft.id), Option.none())
      same((yield* store.list({ subscriptionId: subscription.id }, firstPage)).data, [])
      same(yield* store.billedLines(subscription.id, 0), [])
      const claim = { now: minuteOf(2), leaseUntil: minuteOf(3), limit: MAX_CLAIMED_SUBJECTS }
      const claimed = yield* (yield* DueStore).claimDue(claim)
      assert.notInclude(
        claimed.map(({ subject }): string => subject.id),
        draft.id,
      )
      // The period can be billed again, and the same id is free.
      yield* store.insert(draft)
      same(yield* store.find(draft.id), Option.some(draft))
      yield* store.remove(draft.id)
      yield* store.remove(draft.id)
    }),
  )

  test(
    "an invoice that is issued is not removed",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const issued = yield* issue(yield* draftOf(yield* subscribed, 0))
      assert.instanceOf(yield* Effect.flip(store.remove(issued.id)), StorageError)
      same(yield* store.find(issued.id), Option.some(issued))
    }),
  )

  test(
    "an invoice may be issued when it is stored",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const transactor = yield* Transactor
      const subscription = yield* subscribed
      const issued = issuedOf(yield* draftOf(subscription, 0))
      const insert = Effect.gen(function* () {
        yield* store.lockSeries("invoice")
        yield* store.saveSeries("invoice", seriesOf("", 1))
        yield* store.insert(issued)
      })
      yield* Effect.flip(transactor.atomically(Effect.andThen(insert, Effect.fail("no"))))
      same(yield* store.find(issued.id), Option.none())
      yield* transactor.atomically(insert)
      same(yield* store.find(issued.id), Option.some(issued))
      const { lines } = issued.state
      assert.lengthOf(yield* store.billedLines(subscription.id, 0), lines.length)
    }),
  )

  test(
    "a save replaces the invoice, and a failed transaction leaves it as it was",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const transactor = yield* Transactor
      const subscription = yield* subscribed
      const draft = yield* draftOf(subscription, 0)
      yield* store.insert(draft)
      const issued = issuedOf(draft)
      const series = seriesOf("", 1)
      const issue = Effect.gen(function* () {
        same(yield* store.lock(draft.id), Option.some(draft))
        same(yield* store.lockSeries("invoice"), Option.none())
        yield* store.save(issued)
        yield* store.saveSeries("invoice", series)
      })
      yield* Effect.flip(transactor.atomically(Effect.andThen(issue, Effect.fail("no"))))
      same(yield* store.find(draft.id), Option.some(draft))
      yield* transactor.atomically(issue)
      same(yield* store.find(draft.id), Option.some(issued))
      same((yield* store.list({ status: "open" }, firstPage)).data, [issued])
      same(yield* transactor.atomically(store.lockSeries("invoice")), Option.some(series))
      same(yield* transactor.atomically(store.lockSeries("credit_note")), Option.none())
    }),
  )

  test(
    "the lines of a subscription's periods are found on all of its invoices, and its drafts among them",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const transactor = yield* Transactor
      const [ours, theirs] = [yield* subscribed, yield* subscribed]
      const first = yield* draftOf(ours, 0)
      const second = yield* draftOf(ours, 1)
      const third = yield* draftOf(ours, 2)
      for (const one of [first, yield* draftOf(theirs, 1), second, third]) yield* store.insert(one)
      const lineAt = (invoiceId: typeof first.id, period: number) => {
        const line = Struct.omit(lineOf(ours.id, period), ["steps", "receipt"])
        return { invoiceId, status: "draft" as const, line, forgiven: 0n }
      }
      same(yield* store.billedLines(ours.id, 1), [lineAt(second.id, 1), lineAt(third.id, 2)])
      assert.lengthOf(yield* store.billedLines(ours.id, 0), 3)
      same(yield* transactor.atomically(store.lockDrafts(ours.id)), [first, second, third])
    }),
  )
}
