/**
 * The contract of the quick ways of `CreditStore`, which lead where the long ones do.
 */
import { Credit, Credits, CreditStore, type CurrentTenant, Hold, Holds, IdGenerator } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, type Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { forAll } from "../Property.ts"
import { Effort, same, times, together } from "./ContractTest.ts"
import {
  services,
  CALLERS,
  newAccount,
  granted,
  balanceOf,
  inSeconds,
  auditOf,
  eventsOf,
  watched,
} from "./CreditProbe.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

/** The services over the same storage, without its quick ways. */
const withoutQuick = Layer.effect(
  CreditStore,
  Effect.map(CreditStore, (store) =>
    CreditStore.of({ ...store, take: undefined, hold: undefined, settle: undefined }),
  ),
)

const small = (max: number) => fc.integer({ min: 1, max })
const scope = fc.constantFrom(undefined, undefined, ["images"], ["images", "chat"])
const purpose = fc.constantFrom(undefined, undefined, "images", "chat")
const step = fc.oneof(
  fc.record({
    type: fc.constant("grant" as const),
    amount: small(40),
    priority: fc.integer({ min: 0, max: 1 }),
    length: fc.option(small(6), { nil: undefined }),
    scope,
  }),
  fc.record({
    type: fc.constant("consume" as const),
    amount: small(12),
    key: fc.integer({ min: 0, max: 5 }),
    purpose,
  }),
  fc.record({
    type: fc.constant("consume" as const),
    amount: small(12),
    key: fc.constant(undefined),
    purpose,
  }),
  fc.record({
    type: fc.constant("reserve" as const),
    amount: small(12),
    length: small(6),
    key: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
    purpose,
  }),
  fc.record({
    type: fc.constant("commit" as const),
    hold: fc.integer({ min: 0, max: 3 }),
    amount: fc.option(fc.integer({ min: 0, max: 14 }), { nil: undefined }),
    overdraft: fc.constantFrom("debt" as const, "refuse" as const),
  }),
  fc.record({ type: fc.constant("release" as const), hold: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant("void" as const) }),
  fc.record({ type: fc.constant("wait" as const), length: small(3) }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** An account, and the ids of its holds in the order in which they were made. */
interface Played {
  readonly account: Credit.AccountKey
  readonly holds: Array<string>
}

/** A hold without its id. */
const answerOf = ({ committed, expiresAt, isLate, settledAt, status }: Hold.Hold) => ({
  committed,
  expiresAt,
  isLate,
  settledAt,
  status,
})

const purposeOf = ({ purpose: asked }: { readonly purpose: string | undefined }) =>
  asked === undefined ? {} : { purpose: asked }

/** Does the same to an account, and gives what was answered. */
const perform = ({ account, holds: ids }: Played, given: Step) =>
  Effect.gen(function* () {
    const [credits, holds] = [yield* Credits, yield* Holds]
    const idOf = (hold: number): string => ids[hold % Math.max(1, ids.length)] ?? "hld_0"
    switch (given.type) {
      case "grant": {
        const { amount, length, priority, scope: paid } = given
        const end = length === undefined ? {} : { expiresAt: yield* inSeconds(length) }
        const terms = { priority, ...end, ...(paid === undefined ? {} : { scope: paid }) }
        const { available, status } = yield* granted(account, BigInt(amount), terms)
        return { available, status }
      }
      case "consume": {
        const { amount, key } = given
        const keyed = { ...(key === undefined ? {} : { idempotencyKey: String(key) }), ...purposeOf(given) }
        const { balance, createdAt } = yield* credits.consume({
          ...account,
          amount: BigInt(amount),
          ...keyed,
        })
        return { balance, createdAt }
      }
      case "reserve": {
        const { amount, key, length } = given
        const keyed = { ...(key === undefined ? {} : { idempotencyKey: String(key) }), ...purposeOf(given) }
        const asked = { ...account, ...keyed, amount: BigInt(amount), ttlSeconds: length }
        const hold = yield* holds.reserve(asked)
        if (!ids.includes(hold.id)) ids.push(hold.id)
        return { ...answerOf(hold), place: ids.indexOf(hold.id) }
      }
      case "commit": {
        const { amount, hold, overdraft } = given
        const asked = amount === undefined ? {} : { amount: BigInt(amount) }
        return answerOf(yield* holds.commit(idOf(hold), { ...asked, overdraft }))
      }
      case "release":
        return answerOf(yield* holds.release(idOf(given.hold)))
      case "void": {
        const [grant] = (yield* credits.listGrants({ ...account, limit: 1 })).data
        return { status: (yield* credits.voidGrant(grant!.id)).status }
      }
      case "wait":
        return {}
    }
  }).pipe(
    Effect.catch((error) => Effect.succeed({ error: error._tag })),
    // Fresh: services that were built before have another store.
    Effect.provide(Layer.fresh(services)),
  )

/** What is stored of an account, without ids: grants and holds by the order in which they were made. */
const rowsOf = ({ account, holds: ids }: Played) =>
  Effect.gen(function* () {
    const [credits, store] = [yield* Credits, yield* CreditStore]
    const grants = (yield* credits.listGrants({ ...account, limit: 100 })).data
    const placeOf = (id: string | null) => grants.findIndex((grant) => grant.id === id)
    const entries = (yield* credits.listEntries({ ...account, limit: 100 })).data
    return {
      balances: yield* Effect.forEach([undefined, "images", "chat"], (one) =>
        credits.balance({ ...account, ...purposeOf({ purpose: one }) }),
      ).pipe(
        Effect.map((all) =>
          all.map(({ available, debt, held, scoped, sequence }) => ({
            available,
            scoped,
            held,
            debt,
            sequence,
          })),
        ),
      ),
      grants: grants.map(({ available, held, status }) => ({ available, held, status })),
      holds: yield* Effect.forEach(ids, (id) =>
        Effect.map(store.findHold(Hold.HoldId.make(id)), (found) => {
          const { customerId: _, id: __, slices, ...hold } = Option.getOrThrow(found)
          return { ...hold, slices: slices.map(({ amount, grantId }) => [placeOf(grantId), amount]) }
        }),
      ),
      entries: entries.map((entry) => ({
        sequence: entry.sequence,
        kind: entry.kind,
        at: entry.at,
        available: entry.available,
        scoped: entry.scoped,
        held: entry.held,
        debt: entry.debt,
        purpose: entry.purpose,
        grant: placeOf(entry.grantId),
        hold: ids.indexOf(entry.holdId ?? ""),
        isConsumption: entry.consumptionId !== null,
      })),
      events: yield* eventsOf(account),
    }
  })

const quickTests = (test: InvoicingTest): void => {
  test(
    "the quick ways of a storage lead to the same answers, rows and events as the long ones",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* forAll(fc.array(step, { minLength: 4, maxLength: 16 }), effort, (steps) =>
        Effect.gen(function* () {
          const [quick, long]: [Played, Played] = [
            { account: yield* newAccount, holds: [] },
            { account: yield* newAccount, holds: [] },
          ]
          for (const { account } of [quick, long]) yield* watched(account, 5n, 12n, 25n)
          for (const one of [
            { type: "grant", amount: 30, priority: 1, length: 4, scope: undefined } as const,
            ...steps,
          ]) {
            if (one.type === "wait") yield* TestClock.adjust(one.length * 1_000)
            const answer = yield* perform(quick, one)
            same(answer, yield* perform(long, one).pipe(Effect.provide(withoutQuick)))
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
          return yield* take({ ...account, id, amount, purpose: null, idempotencyKey, createdAt }, entryId)
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

const quickHoldTests = (test: InvoicingTest): void => {
  test(
    "holding and settling quickly does nothing where there is more to do",
    Effect.gen(function* () {
      const [store, credits, ids] = [yield* CreditStore, yield* Credits, yield* IdGenerator]
      const { hold, settle } = store
      if (hold === undefined || settle === undefined) return
      const account = yield* newAccount
      const entryId = Effect.map(ids.next(Credit.ENTRY_ID_PREFIX), (id) => Credit.CreditEntryId.make(id))
      const holding = Effect.fnUntraced(function* (
        amount: bigint,
        ttlSeconds = 60,
        idempotencyKey: string | null = null,
      ) {
        const id = Hold.HoldId.make(yield* ids.next(Hold.HOLD_ID_PREFIX))
        const createdAt = (yield* DateTime.now).epochMilliseconds
        const open = { status: "open", committed: null, isLate: false, settledAt: null } as const
        const expiresAt = createdAt + ttlSeconds * 1_000
        const terms = { amount, purpose: null, ttlSeconds, idempotencyKey, expiresAt }
        const isHeld = yield* hold({ ...account, ...open, ...terms, id, createdAt }, yield* entryId)
        return isHeld ? id : undefined
      })
      const settling = Effect.fnUntraced(function* (
        id: Hold.HoldId,
        amount: bigint | null,
        status: "committed" | "released" = "committed",
      ) {
        const settledAt = (yield* DateTime.now).epochMilliseconds
        const settled = yield* settle({ id, status, amount, settledAt }, yield* entryId)
        return settled?.status
      })
      const unknown = Hold.HoldId.make(yield* ids.next(Hold.HOLD_ID_PREFIX))
      assert.isUndefined(yield* settling(unknown, 1n))
      assert.isUndefined(yield* holding(1n))
      const grant = yield* granted(account, 10n)
      const first = (yield* holding(3n, 60, "key"))!
      assert.isUndefined(yield* holding(3n, 60, "key"))
      assert.isUndefined(yield* holding(7n))
      assert.isUndefined(yield* settling(first, 4n))
      same(yield* settling(first, 2n), "committed")
      assert.isUndefined(yield* settling(first, 2n))
      const [second, third] = [(yield* holding(2n))!, (yield* holding(2n, 1))!]
      same(yield* settling(second, null, "released"), "released")
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* settling(third, 1n))
      assert.isUndefined(yield* holding(1n))
      yield* credits.consume({ ...account, amount: 1n })
      const fourth = (yield* holding(2n))!
      yield* credits.voidGrant(grant.id)
      assert.isUndefined(yield* settling(fourth, 1n))
      same(yield* auditOf(account), { available: 0n, held: 2n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  test(
    "calls of several accounts at once: each has its own answer, whatever comes of the others",
    Effect.gen(function* () {
      const [credits, holds] = [yield* Credits, yield* Holds]
      const accounts = yield* Effect.forEach(times(4, BigInt), (n) =>
        Effect.tap(newAccount, (account) => granted(account, 10n * (n + 1n))),
      )
      const exits = yield* together<Exit.Exit<unknown, unknown>, never, CurrentTenant>(
        times(CALLERS, (n) => {
          const asked = { ...accounts[n % 4]!, amount: 3n, idempotencyKey: `${n}` }
          return n % 8 < 4
            ? Effect.exit(credits.consume(asked))
            : Effect.exit(Effect.flatMap(holds.reserve(asked), ({ id }) => holds.commit(id, { amount: 3n })))
        }),
      )
      const done = times(
        4,
        (n) => exits.filter(({ _tag }, index) => index % 4 === n && _tag === "Success").length,
      )
      same(done, [3, 6, 10, 13])
      const left = yield* Effect.forEach(accounts, (account) =>
        Effect.andThen(auditOf(account), balanceOf(account)),
      )
      same(
        left.map(({ available, held }) => [available, held]),
        [
          [1n, 0n],
          [2n, 0n],
          [0n, 0n],
          [1n, 0n],
        ],
      )
    }).pipe(Effect.provide(services)),
  )
}

export const quickCreditContract = (test: InvoicingTest): void => {
  quickTests(test)
  quickHoldTests(test)
}
