/**
 * Tokens of language models: what they cost by a rate card, and what is done about those without a price.
 */
import {
  Credits,
  type Customer,
  Customers,
  Holds,
  RateCards,
  type TokenUsage,
  TokenUsages,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { asTenant, otherTenants, times, together } from "../contract/ContractTest.ts"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { newCustomer, scenario, told, until } from "./Scenario.ts"

const services = Layer.mergeAll(Holds.layer, TokenUsages.layer)

type Card = Parameters<RateCards["Service"]["push"]>[0]["rateCards"][number]

/** Prices in ten-thousandths of a credit. */
const llm: Card = {
  key: "llm",
  unit: "credit",
  decimals: 4,
  models: { large: { input: "2.00", cache_read: "0.20", output: "8.00" } },
}
/** 10,000 tokens of input, of which 9,000 are cached, and 500 of output. They cost 0.0078. */
const counts = { input: 1_000, cache_read: 9_000, output: 500 }
const used = { rateCard: "llm", model: "large", tokens: counts }
const unknown = { ...used, model: "larger" }

const push = Effect.fnUntraced(function* (change: Partial<Card> = {}) {
  yield* (yield* RateCards).push({ rateCards: [{ ...llm, ...change }] })
})

/** The card, and a customer with 1,000 ten-thousandths of a credit. */
const begin = Effect.gen(function* () {
  yield* push()
  const { id: customerId } = yield* newCustomer
  const account = { customerId, unit: "credit" }
  yield* (yield* Credits).grant({ ...account, kind: "paid", amount: 1_000n })
  return account
})

const balance = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { available, debt, held } = yield* (yield* Credits).balance({ customerId, unit: "credit" })
  return [available, held, debt]
})

/** The entries of a customer, oldest first: what happened, and by how much what is available and owed changed. */
const entriesOf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { data } = yield* (yield* Credits).listEntries({ customerId, limit: 100 })
  return data.toReversed().map(({ available, debt, held, kind }) => `${kind} ${available} ${held} ${debt}`)
})

const tagOf = <R>(effect: Effect.Effect<unknown, { readonly _tag: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

const committed = (test: InvoicingTest): void => {
  scenario(
    test,
    "a hold that is committed with tokens is charged what they cost, with each step, once",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* begin
      const { id } = yield* holds.reserve({ ...account, amount: 200n })
      const hold = yield* holds.commit(id, used)
      assert.deepInclude(hold, { status: "committed", committed: 78n, isLate: false })
      assert.deepInclude(hold.tokenUsage, {
        customerId: account.customerId,
        rateCard: "llm",
        version: 1,
        model: "large",
        tokens: { ...counts, cache_write: 0, reasoning: 0 },
        unit: "credit",
        status: "rated",
        amount: 78n,
        exact: "0.0078",
        unpriced: null,
        holdId: id,
        consumptionId: null,
      })
      assert.deepStrictEqual(
        hold.tokenUsage?.steps.map((step) =>
          step.type === "tokens" ? `${step.tokens} ${step.kind} × ${step.price}: ${step.amount}` : step,
        ),
        [
          "1000 input × 2: 0.002",
          "9000 cache_read × 0.2: 0.0018",
          "500 output × 8: 0.004",
          { type: "round", digits: 4, amount: "0.0078" },
        ],
      )
      assert.deepStrictEqual(yield* balance(account.customerId), [922n, 0n, 0n])
      // The answer stays, whatever the card says by now.
      yield* push({ models: { large: { input: "4.00", cache_read: "0.20", output: "8.00" } } })
      assert.deepStrictEqual(yield* holds.commit(id, used), hold)
      const other = { ...used, tokens: { ...counts, output: 501 } }
      assert.strictEqual(yield* tagOf(holds.commit(id, other)), "ActionUnavailable")
      assert.strictEqual(yield* tagOf(holds.commit(id, { amount: 79n })), "ActionUnavailable")
      assert.deepInclude(yield* holds.commit(id, { amount: 78n }), { committed: 78n, tokenUsage: null })
      assert.deepStrictEqual(yield* balance(account.customerId), [922n, 0n, 0n])
      const { id: next } = yield* holds.reserve({ ...account, amount: 10n })
      const dearer = yield* holds.commit(next, used)
      assert.deepInclude(dearer.tokenUsage, { version: 2, amount: 98n })
      assert.deepStrictEqual(yield* balance(account.customerId), [824n, 0n, 0n])
      const usages = yield* TokenUsages
      assert.deepStrictEqual((yield* usages.list({ holdId: id })).data, [hold.tokenUsage!])
      assert.deepStrictEqual(yield* usages.get(hold.tokenUsage!.id), hold.tokenUsage)
      assert.lengthOf((yield* usages.list({ customerId: account.customerId })).data, 2)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "a commit with tokens that is refused records and charges nothing",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* begin
      const { id } = yield* holds.reserve({ ...account, amount: 10n })
      yield* (yield* Credits).consume({ ...account, amount: 990n })
      const refusals = [
        holds.commit(id, { ...used, overdraft: "refuse" }),
        holds.commit(id, { ...used, rateCard: "none" }),
        holds.commit(id, { ...used, amount: 1n }),
        holds.commit(id, { rateCard: "llm", tokens: counts }),
        holds.commit(id, { ...used, tokens: { input: -1 } }),
      ]
      assert.deepStrictEqual(yield* Effect.forEach(refusals, tagOf), [
        "InsufficientCredits",
        "RateCardNotFound",
        "InvalidInput",
        "InvalidInput",
        "InvalidInput",
      ])
      yield* push({ unit: "EUR", decimals: undefined } as never)
      const wrong = yield* Effect.flip(holds.commit(id, used))
      assert.deepInclude(wrong, { _tag: "InvalidInput", field: "rateCard" })
      assert.deepStrictEqual((yield* (yield* TokenUsages).list()).data, [])
      assert.deepStrictEqual(yield* balance(account.customerId), [0n, 10n, 0n])
      yield* push()
      const late = yield* Effect.andThen(until("2026-01-02"), holds.commit(id, used))
      assert.deepInclude(late, { isLate: true, committed: 78n })
      assert.deepStrictEqual(yield* balance(account.customerId), [0n, 0n, 68n])
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "a call is charged once, also when the card got another unit before it is sent again",
    Effect.gen(function* () {
      const { customerId } = yield* begin
      const usages = yield* TokenUsages
      const call = { ...used, customerId, idempotencyKey: "call-1" }
      const first = yield* usages.create(call)
      yield* push({ unit: "token" })
      assert.deepStrictEqual(yield* usages.create(call), first)
      const other = { ...call, tokens: { ...counts, output: 1 } }
      assert.strictEqual(yield* tagOf(usages.create(other)), "CreditKeyConflict")
      assert.deepStrictEqual(yield* balance(customerId), [1_000n - first.amount!, 0n, 0n])
      const inTokens = yield* (yield* Credits).balance({ customerId, unit: "token" })
      assert.deepInclude(inTokens, { available: 0n, debt: 0n })
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "a call that is sent again gives its first answer, also when the card now refuses such calls",
    Effect.gen(function* () {
      const { customerId } = yield* begin
      const usages = yield* TokenUsages
      const call = { ...used, customerId, idempotencyKey: "call-1" }
      const first = yield* usages.create(call)
      const dear = "1".padEnd(18, "0")
      yield* push({ markup: dear, models: { large: { input: dear, cache_read: dear, output: dear } } })
      assert.deepInclude(yield* Effect.flip(usages.create({ ...used, customerId })), {
        _tag: "InvalidInput",
        field: "tokens",
      })
      assert.deepStrictEqual(yield* usages.create(call), first)
      const other = { ...call, tokens: { ...counts, output: 501 } }
      assert.strictEqual(yield* tagOf(usages.create(other)), "CreditKeyConflict")
      assert.deepStrictEqual(yield* balance(customerId), [1_000n - first.amount!, 0n, 0n])
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "of many callers that commit a hold with tokens at once, one charges it",
    Effect.gen(function* () {
      const holds = yield* Holds
      const account = yield* begin
      const { id } = yield* holds.reserve({ ...account, amount: 100n })
      const all = yield* together(times(16, () => holds.commit(id, used)))
      assert.strictEqual(new Set(all.map((hold) => hold.tokenUsage?.id)).size, 1)
      assert.lengthOf((yield* (yield* TokenUsages).list()).data, 1)
      assert.deepStrictEqual(yield* balance(account.customerId), [922n, 0n, 0n])
    }).pipe(Effect.provide(services)),
  )
}

const charged = (test: InvoicingTest): void => {
  scenario(
    test,
    "tokens without a hold are charged to the credits, and beyond them to a debt, once for a key",
    Effect.gen(function* () {
      const usages = yield* TokenUsages
      const { customerId } = yield* begin
      const first = yield* usages.create({ ...used, customerId, idempotencyKey: "call 1" })
      assert.deepInclude(first, { status: "rated", amount: 78n, holdId: null, idempotencyKey: "call 1" })
      assert.isString(first.consumptionId)
      yield* push({ markup: "1000" })
      assert.deepStrictEqual(yield* usages.create({ ...used, customerId, idempotencyKey: "call 1" }), first)
      const other = usages.create({ ...unknown, customerId, idempotencyKey: "call 1" })
      assert.deepInclude(yield* Effect.flip(other), { _tag: "CreditKeyConflict", id: first.id })
      assert.deepStrictEqual(yield* balance(customerId), [922n, 0n, 0n])
      const second = yield* usages.create({ ...used, customerId })
      assert.deepInclude(second, { version: 2, amount: 858n })
      const third = yield* usages.create({ ...used, customerId })
      assert.deepInclude(third, { amount: 858n })
      assert.deepStrictEqual(yield* balance(customerId), [0n, 0n, 794n])
      const nothing = yield* usages.create({ ...used, tokens: {}, customerId })
      assert.deepInclude(nothing, { status: "rated", amount: 0n, consumptionId: null })
      assert.deepStrictEqual(yield* entriesOf(customerId), [
        "grant 1000 0 0",
        "consume -78 0 0",
        "consume -858 0 0",
        "consume -64 0 0",
        "consume 0 0 794",
      ])
      const { data } = yield* (yield* Credits).listEntries({ customerId, limit: 1 })
      assert.strictEqual(data[0]?.consumptionId, third.consumptionId)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "of many calls with a key at once, one is charged, also to a customer who never had credits",
    Effect.gen(function* () {
      const usages = yield* TokenUsages
      yield* push()
      const { id: customerId } = yield* newCustomer
      const call = usages.create({ ...used, customerId, idempotencyKey: "call" })
      const all = yield* together(times(16, () => call))
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, 1)
      assert.deepStrictEqual(yield* balance(customerId), [0n, 0n, 78n])
      yield* (yield* Customers).erase(customerId)
      assert.strictEqual(yield* tagOf(usages.create({ ...used, customerId })), "CustomerNotFound")
    }).pipe(Effect.provide(services)),
  )
}

/** Token usage that has no price, of a hold and without one. */
const waiting = Effect.gen(function* () {
  const [holds, usages] = [yield* Holds, yield* TokenUsages]
  const account = yield* begin
  const { id } = yield* holds.reserve({ ...account, amount: 900n })
  const hold = yield* holds.commit(id, unknown)
  const { customerId } = account
  const kinds = { ...used, tokens: { ...counts, cache_write: 5 }, customerId, idempotencyKey: "call" }
  return { account, hold, kinds, usages, called: yield* usages.create(kinds), held: hold.tokenUsage! }
})

const statusesOf = (all: ReadonlyArray<TokenUsage.TokenUsage>) => all.map(({ status }) => status)

const unrated = (test: InvoicingTest): void => {
  scenario(
    test,
    "what has no price is unrated with an event, and is charged once when the card has it",
    Effect.gen(function* () {
      const { account, called, held, hold, kinds, usages } = yield* waiting
      assert.deepInclude(hold, { status: "committed", committed: 0n })
      const nothing = { amount: null, exact: null, steps: [], settledAt: null } as const
      const empty = { ...nothing, status: "unrated", version: 1 } as const
      assert.deepInclude(held, { ...empty, unpriced: null, holdId: hold.id })
      assert.deepInclude(called, { ...empty, unpriced: ["cache_write"], consumptionId: null })
      assert.deepStrictEqual((yield* told).slice(1), ["2026-01-01 usage.unrated", "2026-01-01 usage.unrated"])
      assert.deepStrictEqual(yield* balance(account.customerId), [1_000n, 0n, 0n])
      assert.deepStrictEqual(yield* usages.create(kinds), called)
      assert.strictEqual(yield* tagOf(usages.rate(held.id)), "ActionUnavailable")
      assert.deepStrictEqual((yield* usages.list({ status: "unrated", model: "larger" })).data, [held])

      yield* until("2026-01-03")
      const large = { ...llm.models["large"], cache_write: "100" }
      yield* push({ models: { large, larger: { input: "200", cache_read: "20", output: "800" } } })
      const all = yield* together(times(16, () => usages.rate(held.id)))
      assert.deepInclude(all[0], { id: held.id, status: "rated", amount: 7_800n, version: 2, unpriced: null })
      assert.strictEqual(new Set(all.map(({ consumptionId }) => consumptionId)).size, 1)
      assert.notDeepEqual(all[0]!.settledAt, held.createdAt)
      assert.deepInclude(yield* usages.rate(called.id), { status: "rated", amount: 83n })
      assert.deepStrictEqual(yield* balance(account.customerId), [0n, 0n, 6_883n])
      assert.deepStrictEqual(yield* usages.rate(held.id), all[0])
      const waived = usages.waive(held.id, { by: "Ada", reason: "A test" })
      assert.strictEqual(yield* tagOf(waived), "ActionUnavailable")
      // The hold stays as it was settled, and committing it again tells what came of it.
      const again = yield* (yield* Holds).commit(hold.id, unknown)
      assert.deepInclude(again, { committed: 0n, tokenUsage: all[0]! })
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "what is waived says who and why, and is never charged",
    Effect.gen(function* () {
      const { account, called, held, usages } = yield* waiting
      const words = { by: "ada@example.com", reason: "A test" }
      const waived = yield* usages.waive(held.id, words)
      assert.deepInclude(waived, {
        status: "waived",
        amount: null,
        waivedBy: words.by,
        waiveReason: words.reason,
      })
      assert.isNotNull(waived.settledAt)
      assert.deepStrictEqual(yield* usages.waive(held.id, words), waived)
      const others = [
        usages.waive(held.id, { ...words, reason: "Another" }),
        usages.rate(held.id),
        usages.rate("tku_00000000000000000000000000"),
      ]
      assert.deepStrictEqual(yield* Effect.forEach(others, tagOf), [
        "ActionUnavailable",
        "ActionUnavailable",
        "TokenUsageNotFound",
      ])
      yield* push({ unit: "token" })
      assert.strictEqual(yield* tagOf(usages.rate(called.id)), "ActionUnavailable")
      yield* push({ models: { large: { ...llm.models["large"], cache_write: "100" } } })
      // Whoever is first decides: it is waived, or charged, and never both.
      const both = yield* together([
        Effect.exit(usages.rate(called.id)),
        Effect.exit(usages.waive(called.id, words)),
      ])
      assert.lengthOf(
        both.filter(({ _tag }) => _tag === "Success"),
        1,
      )
      const { amount, status } = yield* usages.get(called.id)
      assert.deepStrictEqual(yield* balance(account.customerId), [1_000n - (amount ?? 0n), 0n, 0n])
      assert.strictEqual(amount === null, status === "waived")
      assert.deepStrictEqual(statusesOf((yield* usages.list({ status: "unrated" })).data), [])
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "of an erased customer, what is unrated can be waived and not charged",
    Effect.gen(function* () {
      const { account, held, usages } = yield* waiting
      yield* (yield* Customers).erase(account.customerId)
      yield* push({ models: { larger: { input: "2", cache_read: "2", output: "2" } } })
      assert.strictEqual(yield* tagOf(usages.rate(held.id)), "ActionUnavailable")
      const words = { by: "Ada", reason: "Erased" }
      assert.deepInclude(yield* usages.waive(held.id, words), { status: "waived" })
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "other tenants have neither the card nor the token usage",
    Effect.gen(function* () {
      const { called, held, usages } = yield* waiting
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          const { id: customerId } = yield* newCustomer
          const all = [
            usages.get(held.id),
            usages.rate(called.id),
            usages.waive(called.id, { by: "Eve", reason: "Mine" }),
            usages.create({ ...used, customerId }),
          ]
          assert.deepStrictEqual(yield* Effect.forEach(all, tagOf), [
            "TokenUsageNotFound",
            "TokenUsageNotFound",
            "TokenUsageNotFound",
            "RateCardNotFound",
          ])
          assert.deepStrictEqual((yield* usages.list()).data, [])
        }).pipe(asTenant(tenant))
      }
      assert.deepStrictEqual(statusesOf((yield* usages.list()).data), ["unrated", "unrated"])
    }).pipe(Effect.provide(services)),
  )
}

export const tokenScenarios = (test: InvoicingTest): void => {
  committed(test)
  charged(test)
  unrated(test)
}
