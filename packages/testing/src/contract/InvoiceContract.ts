/**
 * The contract of `InvoiceStore`.
 */
import {
  CurrentTenant,
  DueStore,
  InvoiceStore,
  MAX_CLAIMED_SUBJECTS,
  StorageError,
  SubscriptionStore,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option, Struct } from "effect"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import {
  causeOf,
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
  sharedDraftOf,
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
    "the tenants that have invoices are listed once each, after any of them",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const own = yield* CurrentTenant
      const others = yield* otherTenants
      const [first] = others
      for (const each of [own, own, first!]) {
        const insert = Effect.flatMap(subscribed, (subscription) => draftOf(subscription, 0))
        yield* Effect.flatMap(insert, store.insert).pipe(asTenant(each))
      }
      const nameOf = ({ accountId, mode }: Tenant.Tenant) => `${accountId} ${mode}`
      const all = yield* store.tenants(undefined, 1_000)
      const names = all.map(nameOf)
      assert.deepStrictEqual(names, [...new Set(names)].sort())
      assert.includeMembers(names, [nameOf(own), nameOf(first!)])
      for (const other of others.slice(1)) assert.notInclude(names, nameOf(other))
      const walked: Array<string> = []
      for (let last: Tenant.Tenant | undefined; walked.length < names.length;) {
        const [next, ...more] = yield* store.tenants(last, 1)
        same(more, [])
        walked.push(nameOf(next!))
        last = next
      }
      same(walked, names)
      same(yield* store.tenants(all.at(-1), 10), [])
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
        same(yield* theirs(transactor.atomically(store.lockDrafts([subscription.id]))), [])
        same(yield* theirs(transactor.atomically(store.lockSeries("credit_note"))), Option.none())
        same(yield* theirs(store.findSeries("credit_note")), Option.none())
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
      yield* store.insert({ ...change, causes: [causeOf(subscription.id, 0, 1)] })
      assert.lengthOf((yield* store.list({}, firstPage)).data, 2)
    }),
  )

  test(
    "an invoice of several subscriptions is found by each of them, and is the only one of their periods",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const { atomically } = yield* Transactor
      const { id: customerId } = yield* insertCustomer
      const member = Effect.gen(function* () {
        const one = yield* subscriptionOf(customerId, { dueAt: null, invoiceGroup: "all" })
        yield* (yield* SubscriptionStore).insert(one)
        return one
      })
      const [ada, bob, eve] = [yield* member, yield* member, yield* member]
      const own = yield* draftOf(ada, 0)
      const shared = yield* sharedDraftOf([ada, bob], 1)
      const next = yield* sharedDraftOf([ada, bob, eve], 2)
      for (const one of [own, shared, next]) yield* store.insert(one)
      same(yield* store.find(shared.id), Option.some(shared))
      const listed = (subscriptionId: typeof ada.id, limit = 9, id?: string) =>
        store.list(
          { subscriptionId },
          { limit, cursor: id === undefined ? undefined : { direction: "older", id } },
        )
      same(yield* listed(ada.id), { data: [next, shared, own], hasMore: false })
      same(yield* listed(ada.id, 1, next.id), { data: [shared], hasMore: true })
      same(yield* listed(bob.id), { data: [next, shared], hasMore: false })
      same((yield* store.list({ subscriptionId: eve.id, status: "open" }, firstPage)).data, [])
      same((yield* store.list({ customerId }, firstPage)).data, [next, shared, own])

      const drafts = (...all: ReadonlyArray<typeof ada>) =>
        atomically(store.lockDrafts(all.map(({ id }) => id)))
      same(yield* drafts(bob), [shared, next])
      same(yield* drafts(eve, ada), [own, shared, next])
      same(yield* drafts(), [])
      const billed = yield* store.billedLines(bob.id, 0)
      same(
        billed.map(({ invoiceId, line }) => [invoiceId, line.origin?.subscriptionId]),
        [shared, next].map(({ id }) => [id, bob.id]),
      )

      // Neither kind can have a period that the other kind has.
      for (const taken of [
        yield* draftOf(bob, 1),
        yield* sharedDraftOf([ada, eve], 0),
        yield* sharedDraftOf([bob, eve], 1),
      ]) {
        assert.instanceOf(yield* Effect.flip(store.insert(taken)), StorageError)
        same(yield* store.find(taken.id), Option.none())
      }
      yield* store.insert(yield* sharedDraftOf([ada, eve], 3))
      yield* store.insert(yield* draftOf(bob, 3))

      const issued = yield* issue(yield* draftOf(ada, 4))
      yield* store.save({ ...shared, causes: [], subscriptionId: ada.id, dueAt: null })
      same(yield* store.find(shared.id), Option.some({ ...shared, dueAt: null }))
      same(yield* drafts(ada), yield* drafts(ada, ada))
      assert.isFalse((yield* drafts(ada)).some(({ id }) => id === issued.id))
      yield* store.remove(next.id)
      same(yield* store.find(next.id), Option.none())
      assert.isFalse((yield* drafts(ada, eve)).some(({ id }) => id === next.id))
      yield* store.insert(yield* draftOf(eve, 2))
    }),
  )

  test(
    "what coupons took off an invoice of several subscriptions has the period of each",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const { id: customerId } = yield* insertCustomer
      const [ada, bob] = [yield* subscriptionOf(customerId), yield* subscriptionOf(customerId)]
      for (const one of [ada, bob]) yield* (yield* SubscriptionStore).insert({ ...one, dueAt: null })
      const draft = yield* sharedDraftOf([ada, bob], 1)
      const [first, second] = draft.state.lines
      const coupon = (id: string, amount: bigint, lineId: string) => ({
        type: "coupon" as const,
        id,
        name: "Half",
        percent: null,
        base: 2_000n,
        amount,
        parts: [{ lineId, amount }],
      })
      const net = 4_000n - 300n
      yield* store.insert({
        ...draft,
        causes: [causeOf(ada.id, 1), causeOf(bob.id, 7)],
        state: {
          ...draft.state,
          lines: [
            { ...first!, discount: 100n, net: 1_900n },
            { ...second!, discount: 200n, net: 1_800n },
          ],
          discounts: [coupon("red_a", 100n, first!.id), coupon("red_b", 200n, second!.id)],
          taxes: draft.state.taxes.map((tax) => ({ ...tax, taxable: net })),
          total: net,
          amountDue: net,
        },
      })
      const usesOf = (period: number) =>
        [
          ["red_a", 100n],
          ["red_b", 200n],
        ].map(([redemptionId, amount]) => ({
          invoiceId: draft.id,
          status: "draft",
          period,
          redemptionId,
          amount,
        }))
      same(yield* store.couponUses(ada.id, 0), usesOf(1))
      same(yield* store.couponUses(ada.id, 1), usesOf(1))
      same(yield* store.couponUses(ada.id, 2), [])
      same(yield* store.couponUses(bob.id, 7), usesOf(7))
      same(yield* store.couponUses(bob.id, 8), [])
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
      const claim = {
        lane: "billing",
        now: minuteOf(2),
        leaseUntil: minuteOf(3),
        limit: MAX_CLAIMED_SUBJECTS,
      } as const
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
        yield* store.saveSeries("invoice", series)
        yield* store.save(issued)
      })
      yield* Effect.flip(transactor.atomically(Effect.andThen(issue, Effect.fail("no"))))
      same(yield* store.find(draft.id), Option.some(draft))
      same(yield* store.findSeries("invoice"), Option.none())
      yield* transactor.atomically(issue)
      same(yield* store.findSeries("invoice"), Option.some(series))
      same(yield* store.findSeries("credit_note"), Option.none())
      same(yield* store.find(draft.id), Option.some(issued))
      same((yield* store.list({ status: "open" }, firstPage)).data, [issued])
      same(yield* transactor.atomically(store.lockSeries("invoice")), Option.some(series))
      same(yield* transactor.atomically(store.lockSeries("credit_note")), Option.none())
    }),
  )

  test(
    "since when subscriptions are past due is said of the open invoices of each, also of shared ones",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const { atomically } = yield* Transactor
      const { id: customerId } = yield* insertCustomer
      const member = Effect.gen(function* () {
        const one = yield* subscriptionOf(customerId, { dueAt: null, invoiceGroup: "all" })
        yield* (yield* SubscriptionStore).insert(one)
        return one
      })
      const [ada, bob, eve, stranger] = [yield* member, yield* member, yield* member, yield* subscribed]
      const sinceOf = store.pastDueSince([ada, stranger, bob, eve].map(({ id }) => id))
      const own = yield* draftOf(eve, 0)
      yield* store.insert(own)
      const shared = yield* issue(yield* sharedDraftOf([ada, bob], 1))
      same(yield* sinceOf, [null, null, null, null])
      const save = (one: typeof shared) => atomically(Effect.andThen(store.lock(one.id), store.save(one)))
      const late = { ...shared, pastDueSince: millisOf(3), dueAt: millisOf(4) }
      yield* save(late)
      same(yield* store.find(late.id), Option.some(late))
      same(yield* sinceOf, [millisOf(3), null, millisOf(3), null])
      same(yield* store.pastDueSince([]), [])
      for (const other of yield* otherTenants) {
        same(yield* asTenant(other)(store.pastDueSince([ada.id])), [null])
      }
      // A draft has no payment that could be late.
      yield* save({ ...own, pastDueSince: millisOf(1) })
      same(yield* store.pastDueSince([eve.id]), [null])
      yield* save({ ...late, state: { ...late.state, status: "uncollectible", sequence: 3 } })
      same(yield* sinceOf, [null, null, null, null])
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
      same(yield* transactor.atomically(store.lockDrafts([ours.id])), [first, second, third])
    }),
  )
}
