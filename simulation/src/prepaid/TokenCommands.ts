/**
 * Tokens of language models: calls and holds that are charged by a rate card, models that have no price yet, and what
 * becomes of them.
 */
import { Holds, RateCards, TokenUsages } from "@billwright/core"
import type { RateCard } from "@billwright/engine"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { keyOf, type PrepaidCommand } from "./PrepaidHost.ts"

const CARD = { key: "llm", unit: "token" }
const LARGE = { input: "3", cache_read: "0.3", output: "15" }

/** What the card may say. The first has no price for a model, and the second none for its cache. */
export const CARDS: ReadonlyArray<RateCard> = [
  { ...CARD, models: { large: LARGE } },
  { ...CARD, models: { large: LARGE, latest: { input: "5", output: "20" } } },
  {
    ...CARD,
    markup: "12.5",
    models: { large: LARGE, latest: { input: "5", cache_read: "1", output: "25" } },
  },
]

const MILLION = 1_000_000

/** The tokens of a call, of models of which some have no price. */
const usedBy = (choice: Choice) => ({
  rateCard: CARD.key,
  model: choice.pick(["large", "large", "latest"]),
  tokens: {
    input: choice.int(0, 5 * MILLION),
    cache_read: choice.pick([0, 0, 333_333]),
    output: choice.int(0, MILLION),
  },
})

/** Charges the tokens of a call that was made. Two callers may do it at once: a queue gives a message twice. */
const call: PrepaidCommand = {
  name: "call",
  weight: 7,
  decide: (choice, number) => {
    const used = usedBy(choice)
    const callers = choice.pick([1, 1, 2])!
    return ({ customerId }) =>
      Effect.gen(function* () {
        const { create } = yield* TokenUsages
        const once = create({ ...used, customerId, idempotencyKey: keyOf(number) })
        yield* Effect.replicateEffect(once, callers, { concurrency: callers, discard: true })
      })
  },
}

/** Commits a hold with tokens. Others may commit it with an amount, or it lapses. */
const commitTokens: PrepaidCommand = {
  name: "commit tokens",
  weight: 6,
  decide: (choice) => {
    const at = choice.next()
    const used = usedBy(choice)
    const overdraft = choice.pick(["debt", "refuse"] as const)
    let known: string | undefined
    return ({ holds }) =>
      Effect.gen(function* () {
        // Mostly one of the last, which is still open.
        known ??= holds[Math.floor(Math.sqrt(at) * holds.length)]
        if (known !== undefined) yield* (yield* Holds).commit(known, { ...used, overdraft })
      })
  },
}

/** Pushes a version of the card. */
const price: PrepaidCommand = {
  name: "price",
  weight: 3,
  decide: (choice) => {
    const card = choice.pick(CARDS)!
    return () => Effect.flatMap(RateCards, ({ push }) => Effect.asVoid(push({ rateCards: [card] })))
  },
}

/** One token usage that is not rated, the same in each attempt. */
const unrated = (choice: Choice) => {
  const at = choice.next()
  let known: string | undefined
  return Effect.gen(function* () {
    if (known !== undefined) return known
    const { data } = yield* (yield* TokenUsages).list({ status: "unrated" })
    known = data[Math.floor(at * data.length)]?.id
    return known
  })
}

/** Two callers rate it at once, mostly when it has got a price. */
const rate: PrepaidCommand = {
  name: "rate",
  weight: 6,
  decide: (choice) => {
    const find = unrated(choice)
    const isPriced = choice.chance(0.7)
    return () =>
      Effect.gen(function* () {
        const id = yield* find
        if (id === undefined) return
        if (isPriced) yield* (yield* RateCards).push({ rateCards: CARDS.slice(-1) })
        const usages = yield* TokenUsages
        yield* Effect.all([usages.rate(id), usages.rate(id)], { concurrency: 2 })
      })
  },
}

const waive: PrepaidCommand = {
  name: "waive",
  weight: 2,
  decide: (choice, number) => {
    const find = unrated(choice)
    return () =>
      Effect.gen(function* () {
        const id = yield* find
        if (id !== undefined) yield* (yield* TokenUsages).waive(id, { by: "ops", reason: keyOf(number) })
      })
  },
}

/** What hosts do with tokens of language models. */
export const TOKEN_COMMANDS: ReadonlyArray<PrepaidCommand> = [call, commitTokens, price, rate, waive]
