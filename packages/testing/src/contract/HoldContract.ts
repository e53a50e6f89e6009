/**
 * The contract of holds over `CreditStore`.
 */
import { Credits, type CurrentTenant, Holds } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, type Exit } from "effect"
import { TestClock } from "effect/testing"
import { same, times, together } from "./ContractTest.ts"
import { services, CALLERS, newAccount, granted, balanceOf, inSeconds, auditOf } from "./CreditProbe.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

export const holdContract = (test: InvoicingTest): void => {
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
    "holds are listed newest first, by customer and unit, as they are at the instant",
    Effect.gen(function* () {
      const holds = yield* Holds
      const [account, other] = [yield* newAccount, yield* newAccount]
      const inEuros = { ...account, unit: "EUR" }
      for (const each of [account, inEuros, other]) yield* granted(each, 10n)
      const first = yield* holds.reserve({ ...account, amount: 1n, ttlSeconds: 10 })
      const euros = yield* holds.reserve({ ...inEuros, amount: 2n })
      const second = yield* holds.reserve({ ...account, amount: 3n })
      const theirs = yield* holds.reserve({ ...other, amount: 4n })
      const { customerId } = account
      same((yield* holds.list({ customerId })).data, [second, euros, first])
      same(yield* holds.list({ ...account, limit: 1 }), { data: [second], hasMore: true })
      same((yield* holds.list({ ...account, startingAfter: second.id })).data, [first])
      same((yield* holds.list({ limit: 1 })).data, [theirs])
      yield* holds.commit(second.id, { amount: 1n })
      yield* TestClock.adjust("10 seconds")
      const { data } = yield* holds.list(account)
      same(
        data.map(({ committed, status }) => [status, committed]),
        [
          ["committed", 1n],
          ["lapsed", null],
        ],
      )
      const unknown = yield* Effect.flip(holds.list({ startingAfter: "hld_01kahd3kc8e0fsr8zknzqgf2h3" }))
      assert.strictEqual(unknown._tag, "InvalidInput")
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
