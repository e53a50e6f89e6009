/**
 * The contract of `CreditStore`, and of credits and holds over it.
 */
import {
  Credit,
  CreditAudit,
  Credits,
  CreditStore,
  type CurrentTenant,
  EventStore,
  Holds,
  IdGenerator,
  Outbox,
  StorageError,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, type Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { forAll } from "../Property.ts"
import { asTenant, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { insertCustomer, type InvoicingTest } from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

/** The services over the ports. */
const services = Layer.mergeAll(CreditAudit.layer, Credits.layer, Holds.layer).pipe(
  Layer.provide(Outbox.layer),
)

const CALLERS = 64
const HUGE = 2n ** 80n

/** The account of a new customer. */
const newAccount = Effect.map(insertCustomer, ({ id }) => ({ customerId: id, unit: "token" }))

const granted = Effect.fnUntraced(function* (
  account: Credit.AccountKey,
  amount: bigint,
  change: Partial<Credit.GrantCredits> = {},
) {
  return yield* (yield* Credits).grant({ ...account, kind: "paid", amount, ...change })
})

const balanceOf = Effect.fnUntraced(function* (account: Credit.AccountKey) {
  const { available, debt, held } = yield* (yield* Credits).balance(account)
  return { available, held, debt }
})

const inSeconds = (seconds: number) => Effect.map(DateTime.now, DateTime.add({ seconds }))

/** What the entries and the grants of an account sum up to. */
const auditOf = Effect.fnUntraced(function* ({ customerId, unit }: Credit.AccountKey) {
  const [credits, all] = [yield* Credits, Array<Credit.CreditEntry>()]
  let hasMore = true
  while (hasMore) {
    const last = all.at(-1)
    const cursor = last === undefined ? {} : { startingAfter: last.id }
    const page = yield* credits.listEntries({ customerId, unit, limit: 100, ...cursor })
    all.push(...page.data)
    hasMore = page.hasMore
  }
  const sum = (
    name: "available" | "held" | "debt",
    values: ReadonlyArray<{ readonly [N in typeof name]?: bigint }>,
  ) => values.reduce((total, value) => total + (value[name] ?? 0n), 0n)
  const grants = (yield* credits.listGrants({ customerId, unit, limit: 100 })).data
  same(sum("available", grants), sum("available", all))
  same(sum("held", grants), sum("held", all))
  same(
    all.map(({ sequence }) => sequence).sort((a, b) => a - b),
    all.map((_, index) => index + 1),
  )
  return { available: sum("available", all), held: sum("held", all), debt: sum("debt", all) }
})

const eventsOf = (account: Credit.AccountKey) =>
  Effect.gen(function* () {
    const filter = {
      type: undefined,
      customerId: account.customerId,
      createdAfter: undefined,
      createdBefore: undefined,
      deliveryStatus: undefined,
    }
    const page = yield* (yield* EventStore).list(filter, { ...firstPage, limit: 100 })
    return page.data.map(({ type }) => type).reverse()
  })

const grantTests = (test: InvoicingTest): void => {
  test(
    "a grant is given back as it was made, found by its key, and listed newest first",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = yield* newAccount
      const terms = {
        priority: 3,
        effectiveAt: yield* inSeconds(5),
        expiresAt: yield* inSeconds(60),
        idempotencyKey: "order 'x'\\1",
      }
      const first = yield* granted(account, HUGE, terms)
      assert.deepInclude(first, { ...account, amount: HUGE, priority: 3, status: "pending", available: 0n })
      same(first.expiresAt, terms.expiresAt)
      same(yield* granted(account, HUGE, terms), first)
      const other = yield* Effect.flip(granted(account, HUGE + 1n, terms))
      assert.deepInclude(other, { _tag: "CreditKeyConflict", id: first.id })
      const second = yield* granted(account, 5n, { kind: "promotional" })
      const inEuros = yield* granted({ ...account, unit: "EUR" }, 7n, {
        idempotencyKey: terms.idempotencyKey,
      })
      same((yield* credits.listGrants({ customerId: account.customerId })).data, [inEuros, second, first])
      same((yield* credits.listGrants({ ...account, limit: 1 })).data, [second])
      same((yield* credits.listGrants({ ...account, startingAfter: second.id })).data, [first])
      same(yield* credits.getGrant(second.id), second)
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* credits.getGrant(first.id), { status: "active", available: HUGE })
      same(yield* balanceOf(account), { available: HUGE + 5n, held: 0n, debt: 0n })
      yield* TestClock.adjust("55 seconds")
      assert.deepInclude(yield* credits.getGrant(first.id), { status: "expired", available: 0n })
      same(yield* balanceOf(account), { available: 5n, held: 0n, debt: 0n })
      yield* credits.consume({ ...account, amount: 5n })
      same(yield* auditOf(account), { available: 0n, held: 0n, debt: 0n })
      same(yield* eventsOf(account), [
        "credit.granted",
        "credit.granted",
        "credit.granted",
        "credit.expired",
        "credit.exhausted",
      ])
    }).pipe(Effect.provide(services)),
  )

  test(
    "what is left of a grant is voided, and what is held of it when it comes back",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const account = yield* newAccount
      const { id } = yield* granted(account, 10n)
      const hold = yield* holds.reserve({ ...account, amount: 4n })
      assert.deepInclude(yield* credits.voidGrant(id), { status: "voided", available: 0n, held: 4n })
      assert.deepInclude(yield* credits.voidGrant(id), { status: "voided", held: 4n })
      same(yield* balanceOf(account), { available: 0n, held: 4n, debt: 0n })
      yield* holds.commit(hold.id, { amount: 1n })
      same(yield* balanceOf(account), { available: 0n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 0n, held: 0n, debt: 0n })
      const usedUp = yield* granted(account, 2n)
      yield* credits.consume({ ...account, amount: 2n })
      assert.deepInclude(yield* credits.voidGrant(usedUp.id), { status: "voided" })
      const late = yield* granted(account, 2n, { expiresAt: yield* inSeconds(1) })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(credits.voidGrant(late.id)))._tag, "ActionUnavailable")
    }).pipe(Effect.provide(services)),
  )

  test(
    "an account has so many grants with something left, and no more",
    Effect.gen(function* () {
      const account = yield* newAccount
      yield* Effect.forEach(times(Credit.MAX_LIVE_GRANTS, BigInt), (n) => granted(account, n + 1n))
      assert.strictEqual((yield* Effect.flip(granted(account, 1n)))._tag, "TooManyCreditGrants")
      yield* (yield* Credits).consume({ ...account, amount: 1n })
      yield* granted(account, 1n)
    }).pipe(Effect.provide(services)),
  )
}

const consumeTests = (test: InvoicingTest): void => {
  test(
    "a key gives the first answer for ever, and other content is refused",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = yield* newAccount
      yield* granted(account, 10n)
      const use = { ...account, amount: 6n, idempotencyKey: "request 1" }
      const refused = yield* Effect.flip(credits.consume({ ...use, amount: 11n }))
      assert.deepInclude(refused, { _tag: "InsufficientCredits", available: 10n, amount: 11n })
      const first = yield* credits.consume(use)
      assert.deepInclude(first, { ...use, balance: { available: 4n, held: 0n, debt: 0n } })
      yield* credits.consume({ ...account, amount: 4n })
      yield* TestClock.adjust("400 days")
      same(yield* credits.consume(use), first)
      const other = yield* Effect.flip(credits.consume({ ...use, amount: 5n }))
      assert.deepInclude(other, { _tag: "CreditKeyConflict", id: first.id })
      same(yield* balanceOf(account), { available: 0n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "of many callers at once, those succeed for whom there is enough",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = yield* newAccount
      // 100 in three grants, and 64 callers who want 3 each: 33 get it.
      yield* granted(account, 10n, { priority: 1 })
      yield* granted(account, 45n)
      yield* granted(account, 45n, { expiresAt: yield* inSeconds(60) })
      const exits = yield* together(
        times(CALLERS, () => Effect.exit(credits.consume({ ...account, amount: 3n }))),
      )
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        33,
      )
      same(yield* balanceOf(account), { available: 1n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 1n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "of many callers at once with one key, one uses credits and all have its answer",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = yield* newAccount
      yield* granted(account, 100n)
      const use = { ...account, amount: 3n, idempotencyKey: "once" }
      const answers = yield* together(times(CALLERS, () => credits.consume(use)))
      assert.strictEqual(new Set(answers.map(({ id }) => id)).size, 1)
      same(yield* balanceOf(account), { available: 97n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "a transaction that fails used nothing, granted nothing and held nothing",
    Effect.gen(function* () {
      const [credits, holds, transactor] = [yield* Credits, yield* Holds, yield* Transactor]
      const account = yield* newAccount
      yield* granted(account, 10n)
      const hold = yield* holds.reserve({ ...account, amount: 2n })
      const all = Effect.gen(function* () {
        yield* granted(account, 5n, { idempotencyKey: "g" })
        yield* credits.consume({ ...account, amount: 9n, idempotencyKey: "c" })
        yield* holds.reserve({ ...account, amount: 1n, idempotencyKey: "h" })
        yield* holds.commit(hold.id)
        return yield* Effect.fail("undone")
      })
      yield* Effect.flip(transactor.atomically(all))
      same(yield* balanceOf(account), { available: 8n, held: 2n, debt: 0n })
      same(yield* auditOf(account), { available: 8n, held: 2n, debt: 0n })
      assert.deepInclude(yield* holds.get(hold.id), { status: "open" })
      yield* credits.consume({ ...account, amount: 1n, idempotencyKey: "c" })
    }).pipe(Effect.provide(services)),
  )
}

const holdTests = (test: InvoicingTest): void => {
  test(
    "a hold keeps credits until it is committed, and gives the rest back",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const account = yield* newAccount
      yield* granted(account, 10n)
      const ask = { ...account, amount: 8n, ttlSeconds: 30, idempotencyKey: "stream 1" }
      const hold = yield* holds.reserve(ask)
      same(hold.expiresAt, yield* inSeconds(30))
      same(yield* holds.reserve(ask), hold)
      same(yield* holds.get(hold.id), hold)
      const other = yield* Effect.flip(holds.reserve({ ...ask, ttlSeconds: 31 }))
      assert.deepInclude(other, { _tag: "CreditKeyConflict", id: hold.id })
      assert.strictEqual(
        (yield* Effect.flip(credits.consume({ ...account, amount: 3n })))._tag,
        "InsufficientCredits",
      )
      const committed = yield* holds.commit(hold.id, { amount: 5n })
      assert.deepInclude(committed, { status: "committed", committed: 5n, isLate: false })
      same(yield* holds.commit(hold.id, { amount: 5n }), committed)
      assert.strictEqual(
        (yield* Effect.flip(holds.commit(hold.id, { amount: 6n })))._tag,
        "ActionUnavailable",
      )
      assert.strictEqual((yield* Effect.flip(holds.release(hold.id)))._tag, "ActionUnavailable")
      same(yield* balanceOf(account), { available: 5n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 5n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "a hold lapses at its instant, is extended before, and charges what is committed late",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* newAccount
      yield* granted(account, 10n)
      const hold = yield* holds.reserve({ ...account, amount: 10n, ttlSeconds: 10 })
      yield* TestClock.adjust("9 seconds")
      yield* holds.extend(hold.id, { ttlSeconds: 10 })
      yield* TestClock.adjust("9999 millis")
      same(yield* balanceOf(account), { available: 0n, held: 10n, debt: 0n })
      yield* TestClock.adjust("1 millis")
      same(yield* balanceOf(account), { available: 10n, held: 0n, debt: 0n })
      assert.deepInclude(yield* holds.get(hold.id), { status: "lapsed", settledAt: yield* DateTime.now })
      assert.strictEqual((yield* Effect.flip(holds.extend(hold.id)))._tag, "ActionUnavailable")
      assert.deepInclude(yield* holds.release(hold.id), { status: "lapsed" })
      const other = yield* holds.reserve({ ...account, amount: 7n })
      const late = yield* holds.commit(hold.id)
      assert.deepInclude(late, { status: "committed", committed: 10n, isLate: true })
      same(yield* balanceOf(account), { available: 0n, held: 7n, debt: 7n })
      yield* holds.release(other.id)
      same(yield* balanceOf(account), { available: 0n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 0n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "what is held of a grant can be committed after the grant has expired",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* newAccount
      yield* granted(account, 10n, { expiresAt: yield* inSeconds(5) })
      const [used, freed] = [
        yield* holds.reserve({ ...account, amount: 4n }),
        yield* holds.reserve({ ...account, amount: 3n }),
      ]
      yield* TestClock.adjust("6 seconds")
      same(yield* balanceOf(account), { available: 0n, held: 7n, debt: 0n })
      assert.deepInclude(yield* holds.commit(used.id, { amount: 2n, overdraft: "refuse" }), { isLate: false })
      yield* holds.release(freed.id)
      same(yield* balanceOf(account), { available: 0n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 0n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "more than was held becomes debt, or is refused",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* newAccount
      yield* granted(account, 10n)
      const hold = yield* holds.reserve({ ...account, amount: 6n })
      const refused = yield* Effect.flip(holds.commit(hold.id, { amount: 11n, overdraft: "refuse" }))
      assert.deepInclude(refused, { _tag: "InsufficientCredits", available: 10n, amount: 11n })
      yield* holds.commit(hold.id, { amount: 11n })
      same(yield* balanceOf(account), { available: 0n, held: 0n, debt: 1n })
      yield* granted(account, 3n)
      same(yield* balanceOf(account), { available: 2n, held: 0n, debt: 0n })
      same(yield* auditOf(account), { available: 2n, held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "many callers at once never hold, use and commit more than there is",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const account = yield* newAccount
      yield* granted(account, 60n)
      yield* granted(account, 40n, { priority: 1 })
      const exits = yield* together<Exit.Exit<unknown, unknown>, never, CurrentTenant>(
        times(CALLERS, (n) =>
          n % 2 === 0
            ? Effect.exit(credits.consume({ ...account, amount: 3n }))
            : Effect.exit(
                Effect.flatMap(holds.reserve({ ...account, amount: 3n }), ({ id }) =>
                  n % 4 === 1 ? holds.commit(id) : holds.get(id),
                ),
              ),
        ),
      )
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        33,
      )
      const { available, debt } = yield* balanceOf(account)
      same({ available, debt }, { available: 1n, debt: 0n })
      same(yield* auditOf(account), yield* balanceOf(account))
    }).pipe(Effect.provide(services)),
  )

  test(
    "of many that settle a hold at once, one does",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* newAccount
      yield* granted(account, 10n)
      const { id } = yield* holds.reserve({ ...account, amount: 8n })
      const exits = yield* together(
        times(8, (n) => Effect.exit(n === 0 ? holds.release(id) : holds.commit(id, { amount: BigInt(n) }))),
      )
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        1,
      )
      const { committed } = yield* holds.get(id)
      same(yield* balanceOf(account), { available: 10n - (committed ?? 0n), held: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )
}

/** The services over the same storage, without its quick way. */
const withoutTake = Layer.effect(
  CreditStore,
  Effect.map(CreditStore, (store) => CreditStore.of({ ...store, take: undefined })),
)

const small = (max: number) => fc.integer({ min: 1, max })
const step = fc.oneof(
  fc.record({
    type: fc.constant("grant" as const),
    amount: small(40),
    priority: fc.integer({ min: 0, max: 1 }),
    length: fc.option(small(6), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant("consume" as const),
    amount: small(12),
    key: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({ type: fc.constant("consume" as const), amount: small(12), key: fc.constant(undefined) }),
  fc.record({ type: fc.constant("reserve" as const), amount: small(12), length: small(6) }),
  fc.record({ type: fc.constant("wait" as const), length: small(3) }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Does the same to an account, and gives what was answered. */
const perform = (account: Credit.AccountKey, given: Step) =>
  Effect.gen(function* () {
    const [credits, holds] = [yield* Credits, yield* Holds]
    switch (given.type) {
      case "grant": {
        const { amount, length, priority } = given
        const end = length === undefined ? {} : { expiresAt: yield* inSeconds(length) }
        const { available, status } = yield* granted(account, BigInt(amount), { priority, ...end })
        return { available, status }
      }
      case "consume": {
        const { amount, key } = given
        const keyed = key === undefined ? {} : { idempotencyKey: String(key) }
        const { balance, createdAt } = yield* credits.consume({
          ...account,
          amount: BigInt(amount),
          ...keyed,
        })
        return { balance, createdAt }
      }
      case "reserve": {
        const { amount, length } = given
        const { status } = yield* holds.reserve({ ...account, amount: BigInt(amount), ttlSeconds: length })
        return { status }
      }
      case "wait":
        return {}
    }
  }).pipe(
    Effect.catch((error) => Effect.succeed({ error: error._tag })),
    // Fresh: services that were built before have another store.
    Effect.provide(Layer.fresh(services)),
  )

/** What is stored of an account, without ids: grants by the order in which they were made. */
const rowsOf = (account: Credit.AccountKey) =>
  Effect.gen(function* () {
    const credits = yield* Credits
    const grants = (yield* credits.listGrants({ ...account, limit: 100 })).data
    const placeOf = (id: string | null) => grants.findIndex((grant) => grant.id === id)
    const entries = (yield* credits.listEntries({ ...account, limit: 100 })).data
    return {
      balance: yield* balanceOf(account),
      grants: grants.map(({ available, held, status }) => ({ available, held, status })),
      entries: entries.map(({ at, available, consumptionId, debt, grantId, held, kind, sequence }) => ({
        sequence,
        kind,
        at,
        available,
        held,
        debt,
        grant: placeOf(grantId),
        isConsumption: consumptionId !== null,
      })),
      events: yield* eventsOf(account),
    }
  })

const quickTests = (test: InvoicingTest): void => {
  test(
    "the quick way of a storage leads to the same answers, rows and events as the long one",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* forAll(fc.array(step, { minLength: 4, maxLength: 14 }), effort, (steps) =>
        Effect.gen(function* () {
          const [quick, long] = [yield* newAccount, yield* newAccount]
          for (const one of [{ type: "grant", amount: 30, priority: 1, length: 4 } as const, ...steps]) {
            if (one.type === "wait") yield* TestClock.adjust(one.length * 1_000)
            const answer = yield* perform(quick, one)
            same(answer, yield* perform(long, one).pipe(Effect.provide(withoutTake)))
          }
          same(yield* rowsOf(quick), yield* rowsOf(long))
        }),
      )
    }).pipe(Effect.provide(services)),
  )

  test(
    "the quick way takes nothing where there is more to do",
    Effect.gen(function* () {
      const [store, holds, ids] = [yield* CreditStore, yield* Holds, yield* IdGenerator]
      const { take } = store
      if (take === undefined) return
      const account = yield* newAccount
      const taking = (amount: bigint, idempotencyKey: string | null = null) =>
        Effect.gen(function* () {
          const id = Credit.ConsumptionId.make(yield* ids.next(Credit.CONSUMPTION_ID_PREFIX))
          const entryId = Credit.CreditEntryId.make(yield* ids.next(Credit.ENTRY_ID_PREFIX))
          const createdAt = (yield* DateTime.now).epochMilliseconds
          return yield* take({ ...account, id, amount, idempotencyKey, createdAt }, entryId)
        })
      assert.isUndefined(yield* taking(1n))
      yield* granted(account, 10n)
      same(yield* taking(3n, "key"), { available: 7n, held: 0n, debt: 0n })
      assert.isUndefined(yield* taking(3n, "key"))
      assert.isUndefined(yield* taking(7n))
      assert.isUndefined(yield* taking(8n))
      yield* holds.reserve({ ...account, amount: 2n, ttlSeconds: 1 })
      yield* TestClock.adjust("999 millis")
      same(yield* taking(1n), { available: 4n, held: 2n, debt: 0n })
      yield* TestClock.adjust("1 millis")
      assert.isUndefined(yield* taking(1n))
      same(yield* auditOf(account), { available: 4n, held: 2n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )
}

const storeTests = (test: InvoicingTest): void => {
  test(
    "no other tenant sees credits",
    Effect.gen(function* () {
      const [credits, store] = [yield* Credits, yield* CreditStore]
      const account = yield* newAccount
      const grant = yield* granted(account, 10n, { idempotencyKey: "k" })
      const hold = yield* (yield* Holds).reserve({ ...account, amount: 1n, idempotencyKey: "k" })
      yield* credits.consume({ ...account, amount: 1n, idempotencyKey: "k" })
      const [entry] = (yield* credits.listEntries(account)).data
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(store.findGrant(grant.id)), Option.none())
        same(yield* theirs(store.findHold(hold.id)), Option.none())
        same(yield* theirs(store.grantByKey(account, "k")), Option.none())
        same(yield* theirs(store.holdByKey(account, "k")), Option.none())
        same(yield* theirs(store.consumptionByKey(account, "k")), Option.none())
        same((yield* theirs(store.listGrants({}, firstPage))).data, [])
        same((yield* theirs(store.listEntries({}, firstPage))).data, [])
        const after = { limit: 1, cursor: { direction: "older", id: entry!.id } } as const
        assert.strictEqual((yield* Effect.flip(theirs(store.listEntries({}, after))))._tag, "CursorNotFound")
        same((yield* theirs(store.read(account, 0))).account.sequence, 0)
        same(yield* theirs(store.lock(account, 0, "existing")), yield* theirs(store.read(account, 0)))
      }
    }).pipe(Effect.provide(services)),
  )

  test(
    "an audit reads every account of the tenant, by customer and unit, and finds nothing",
    Effect.gen(function* () {
      const [credits, holds, store] = [yield* Credits, yield* Holds, yield* CreditStore]
      const account = yield* newAccount
      yield* granted(account, 10n)
      yield* granted({ ...account, unit: "EUR" }, 5n, { expiresAt: yield* inSeconds(1) })
      yield* credits.consume({ ...account, amount: 3n })
      const { id } = yield* holds.reserve({ ...account, amount: 4n })
      yield* holds.reserve({ ...account, amount: 2n })
      yield* holds.commit(id, { amount: 6n })
      const [euros, tokens] = yield* store.audit(undefined, 2)
      same(euros!.key, { ...account, unit: "EUR" })
      same(tokens!.key, account)
      const { openHolds, sequence, ...balance } = tokens!.account
      same(balance, { available: 0n, held: 2n, debt: 1n })
      same(tokens!.entries, { ...balance, count: sequence, last: sequence })
      same(tokens!.openHolds, { count: openHolds, amount: 2n })
      same(tokens!.grants, [])
      same(yield* store.audit(undefined, 1), [euros])
      same(yield* store.audit(euros!.key, 2), [tokens])
      same(yield* store.audit(account, 2), [])
      const audit = yield* CreditAudit
      same(yield* audit.page(), { accounts: 2, discrepancies: [], last: account, hasMore: false })
      for (const other of yield* otherTenants) same(yield* asTenant(other)(store.audit(undefined, 2)), [])
    }).pipe(Effect.provide(services)),
  )

  test(
    "a change that breaks a rule is refused",
    Effect.gen(function* () {
      const [store, transactor] = [yield* CreditStore, yield* Transactor]
      const account = yield* newAccount
      const { id } = yield* granted(account, 10n, { idempotencyKey: "k" })
      const ledger = yield* store.read(account, 0)
      const [grant] = ledger.grants
      const nothing = { ...ledger, grants: [], holds: [], entries: [], consumption: null }
      const otherId = Credit.CreditGrantId.make(`${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`)
      const changes = [
        { ...nothing, account: { ...ledger.account, available: -1n } },
        { ...nothing, account: { ...ledger.account, held: -1n } },
        { ...nothing, account: { ...ledger.account, debt: 1n } },
        { ...nothing, grants: [{ ...grant!, available: -1n }] },
        { ...nothing, grants: [{ ...grant!, available: 11n }] },
        { ...nothing, grants: [{ ...grant!, id: otherId }] },
      ]
      for (const change of changes) {
        const written = transactor.atomically(
          Effect.andThen(store.lock(account, 0, "existing"), store.write(account, change)),
        )
        assert.instanceOf(yield* Effect.flip(written), StorageError)
      }
      same(yield* store.read(account, 0), ledger)
    }).pipe(Effect.provide(services)),
  )
}

export const creditContract = (test: InvoicingTest): void => {
  grantTests(test)
  consumeTests(test)
  holdTests(test)
  quickTests(test)
  storeTests(test)
}
