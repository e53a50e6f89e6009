/**
 * The contract of `CreditStore`, and of credits over it.
 */
import { Credit, CreditAudit, Credits, CreditStore, Holds, StorageError, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { asTenant, otherTenants, same, times, together } from "./ContractTest.ts"
import { creditAlertContract } from "./CreditAlertContract.ts"
import {
  services,
  CALLERS,
  HUGE,
  newAccount,
  granted,
  balanceOf,
  inSeconds,
  auditOf,
  eventsOf,
} from "./CreditProbe.ts"
import { holdContract } from "./HoldContract.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"
import { quickCreditContract } from "./QuickCreditContract.ts"
import { firstPage } from "./WebhookProbe.ts"

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

const scopeTests = (test: InvoicingTest): void => {
  test(
    "a grant with a scope pays only for what is in it, and says so",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const account = yield* newAccount
      const terms = { scope: ["images", "chat"], priority: 1, idempotencyKey: "order" }
      const scoped = yield* granted(account, 10n, terms)
      assert.deepInclude(scoped, { scope: ["images", "chat"], available: 10n, status: "active" })
      same(yield* granted(account, 10n, { ...terms, scope: ["chat", "images"] }), scoped)
      const other = yield* Effect.flip(granted(account, 10n, { ...terms, scope: ["chat"] }))
      assert.strictEqual(other._tag, "CreditKeyConflict")
      const all = yield* granted(account, 5n)
      assert.isNull(all.scope)
      const images = { ...account, purpose: "images" }
      const balanceFor = (asked: Credit.AskBalance) =>
        Effect.map(credits.balance(asked), ({ available, debt, held, purpose, scoped: rest }) => ({
          purpose,
          available,
          scoped: rest,
          held,
          debt,
        }))
      const none = { held: 0n, debt: 0n }
      same(yield* balanceFor(account), { purpose: null, available: 5n, scoped: 10n, ...none })
      same(yield* balanceFor(images), { purpose: "images", available: 15n, scoped: 0n, ...none })
      const refused = yield* Effect.flip(credits.consume({ ...account, purpose: "video", amount: 6n }))
      assert.deepInclude(refused, { _tag: "InsufficientCredits", available: 5n })
      const use = { ...images, amount: 3n, idempotencyKey: "use" }
      const used = yield* credits.consume(use)
      assert.deepInclude(used, { purpose: "images", balance: { available: 12n, ...none } })
      same(yield* credits.consume(use), used)
      const without = yield* Effect.flip(credits.consume({ ...account, amount: 3n, idempotencyKey: "use" }))
      assert.strictEqual(without._tag, "CreditKeyConflict")
      const hold = yield* holds.reserve({ ...images, amount: 9n })
      assert.deepInclude(hold, { purpose: "images", amount: 9n })
      same(yield* balanceFor(account), { purpose: null, available: 3n, scoped: 0n, held: 9n, debt: 0n })
      yield* holds.commit(hold.id, { amount: 2n })
      same(yield* balanceFor(account), { purpose: null, available: 5n, scoped: 5n, ...none })
      const { data } = yield* credits.listEntries({ ...account, limit: 2 })
      assert.deepInclude(data[0], { kind: "release", grantId: all.id, available: 2n, scoped: 0n })
      assert.deepInclude(data[1], { kind: "release", grantId: scoped.id, available: 0n, scoped: 5n })
      for (const { purpose } of data) assert.strictEqual(purpose, "images")
      same(yield* auditOf(account), { available: 5n, held: 0n, debt: 0n })
      same((yield* (yield* CreditAudit).page()).discrepancies, [])
    }).pipe(Effect.provide(services)),
  )

  test(
    "a grant with a scope repays no debt, and waits beside one until it ends",
    Effect.gen(function* () {
      const [credits, holds, store] = [yield* Credits, yield* Holds, yield* CreditStore]
      const account = yield* newAccount
      const terms = { scope: ["images"], expiresAt: yield* inSeconds(60) }
      const { id } = yield* granted(account, 4n, terms)
      yield* granted(account, 4n)
      const hold = yield* holds.reserve({ ...account, amount: 4n, purpose: "chat" })
      yield* holds.commit(hold.id, { amount: 7n })
      const before = yield* credits.balance(account)
      assert.deepInclude(before, { available: 0n, scoped: 4n, debt: 3n })
      yield* credits.consume({ ...account, amount: 1n, purpose: "images" })
      yield* TestClock.adjust("60 seconds")
      assert.deepInclude(yield* credits.balance(account), { available: 0n, scoped: 0n, debt: 3n })
      yield* granted(account, 5n)
      assert.deepInclude(yield* credits.getGrant(id), { status: "expired", available: 0n })
      same(yield* auditOf(account), { available: 2n, held: 0n, debt: 0n })
      same((yield* store.read(account, 0)).account.scoped, 0n)
    }).pipe(Effect.provide(services)),
  )

  test(
    "a scope is 1 to 20 different keys",
    Effect.gen(function* () {
      const account = yield* newAccount
      const many = times(Credit.MAX_SCOPE_KEYS + 1, (n) => `key${n}`)
      for (const scope of [[], ["Images"], ["images", "images"], many]) {
        const refused = yield* Effect.flip(granted(account, 1n, { scope }))
        assert.strictEqual(refused._tag, "InvalidInput")
      }
      assert.lengthOf((yield* granted(account, 1n, { scope: many.slice(1) })).scope ?? [], 20)
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
        same((yield* theirs(store.listHolds({}, firstPage))).data, [])
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
      same(balance, { available: 0n, scoped: 0n, held: 2n, debt: 1n })
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
  scopeTests(test)
  consumeTests(test)
  holdContract(test)
  quickCreditContract(test)
  creditAlertContract(test)
  storeTests(test)
}
