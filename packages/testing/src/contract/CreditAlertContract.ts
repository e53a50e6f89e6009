/**
 * The contract of credit alerts over `CreditStore`.
 */
import { CreditAlert, CreditAlerts, Credits, CreditStore, Holds, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { same, times, together } from "./ContractTest.ts"
import { services, CALLERS, newAccount, granted, inSeconds, watched, lowOf } from "./CreditProbe.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

export const creditAlertContract = (test: InvoicingTest): void => {
  test(
    "an alert fires each time that what is available falls below its level",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const account = yield* newAccount
      yield* granted(account, 100n)
      yield* watched(account, 50n)
      yield* watched({ ...account, unit: "EUR" }, 50n)
      const use = (amount: bigint) => credits.consume({ ...account, amount })
      yield* use(50n)
      same(yield* lowOf(account), [])
      yield* use(1n)
      yield* use(1n)
      same(yield* lowOf(account), [{ level: 50, available: 49 }])
      yield* granted(account, 2n)
      yield* holds.reserve({ ...account, amount: 10n, ttlSeconds: 5 })
      same(yield* lowOf(account), [
        { level: 50, available: 49 },
        { level: 50, available: 40 },
      ])
      yield* TestClock.adjust("6 seconds")
      // The hold has lapsed: 50 are available again, and 48 after it.
      yield* use(2n)
      same((yield* lowOf(account)).slice(2), [{ level: 50, available: 48 }])
      const inOtherUnit = { ...account, unit: "EUR" }
      same(yield* lowOf(inOtherUnit), [{ level: 50, available: 0 }])
    }).pipe(Effect.provide(services)),
  )

  test(
    "what happens by the clock crosses a level, too",
    Effect.gen(function* () {
      const account = yield* newAccount
      yield* granted(account, 10n)
      const soon = { effectiveAt: yield* inSeconds(10), expiresAt: yield* inSeconds(20) }
      yield* granted(account, 100n, { expiresAt: yield* inSeconds(5) })
      yield* granted(account, 100n, soon)
      yield* watched(account, 50n)
      same(yield* lowOf(account), [])
      yield* TestClock.adjust("21 seconds")
      // It fell at 5 seconds, rose at 10, and fell at 20.
      yield* granted(account, 1n)
      same(yield* lowOf(account), [
        { level: 50, available: 11 },
        { level: 50, available: 11 },
      ])
    }).pipe(Effect.provide(services)),
  )

  test(
    "a level that is new or changed counts at once, and one that is deleted no more",
    Effect.gen(function* () {
      const [alerts, credits] = [yield* CreditAlerts, yield* Credits]
      const account = yield* newAccount
      yield* granted(account, 10n)
      const alert = yield* alerts.create({ ...account, level: 5n })
      same(yield* lowOf(account), [])
      yield* alerts.update(alert.id, { level: 11n })
      yield* alerts.update(alert.id, { level: 12n })
      yield* alerts.update(alert.id, { level: 12n })
      same(yield* lowOf(account), [{ level: 11, available: 10 }])
      yield* alerts.update(alert.id, { level: 4n })
      yield* credits.consume({ ...account, amount: 7n })
      same((yield* lowOf(account)).length, 2)
      yield* granted(account, 10n)
      yield* alerts.delete(alert.id)
      yield* credits.consume({ ...account, amount: 12n })
      same((yield* lowOf(account)).length, 2)
      same((yield* (yield* CreditStore).read(account, 0)).levels, [])
    }).pipe(Effect.provide(services)),
  )

  test(
    "of many callers at once, one falls below a level",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = yield* newAccount
      yield* granted(account, 1_000n)
      yield* watched(account, 900n, 500n)
      yield* together(times(CALLERS, () => credits.consume({ ...account, amount: 3n })))
      same(yield* lowOf(account), [{ level: 900, available: 898 }])
    }).pipe(Effect.provide(services)),
  )

  test(
    "a transaction that fails fires nothing, and a customer has so many alerts",
    Effect.gen(function* () {
      const [alerts, credits, transactor] = [yield* CreditAlerts, yield* Credits, yield* Transactor]
      const account = yield* newAccount
      yield* granted(account, 10n)
      yield* watched(account, ...times(CreditAlert.MAX_CREDIT_ALERTS, (n) => BigInt(n % 10) + 1n))
      assert.strictEqual(
        (yield* Effect.flip(alerts.create({ ...account, level: 1n })))._tag,
        "TooManyCreditAlerts",
      )
      const undone = Effect.andThen(credits.consume({ ...account, amount: 9n }), Effect.fail("undone"))
      yield* Effect.flip(transactor.atomically(undone))
      same(yield* lowOf(account), [])
      yield* credits.consume({ ...account, amount: 9n })
      same((yield* lowOf(account)).length, 18)
    }).pipe(Effect.provide(services)),
  )
}
