/**
 * The invariants of token usage: each is charged once, what the version of its card says, and never as 0 for want of a price.
 */
import { Tenant, type TokenUsage } from "@billwright/core"
import { erasedIn, type PrepaidBooks } from "./PrepaidBooks.ts"

type Check = (books: PrepaidBooks) => ReadonlyArray<string>
type Usage = TokenUsage.TokenUsage
type Card = PrepaidBooks["rateCards"][number]["card"]

/** Prices and percents have at most so many decimals. */
const DIGITS = 6
const SCALE = 10n ** BigInt(DIGITS)
const MILLION = 1_000_000n

/** A decimal as an integer of millionths. */
const millionths = (text: string): bigint => {
  const [whole, decimals = ""] = text.split(".")
  return BigInt(`${whole}${decimals.padEnd(DIGITS, "0")}`)
}

/** What tokens cost by a card, to the nearest whole token of the unit. `undefined`: something has no price. */
const priceOf = ({ markup, models }: Card, { model, tokens }: Usage): bigint | undefined => {
  const prices: Readonly<Record<string, string | undefined>> | undefined = models[model]
  const used = Object.entries(tokens).filter(([, count]) => count > 0)
  if (prices === undefined || used.some(([kind]) => prices[kind] === undefined)) return undefined
  const sum = used.reduce((all, [kind, count]) => all + BigInt(count) * millionths(prices[kind]!), 0n)
  const marked = sum * (100n * SCALE + millionths(markup ?? "0"))
  const unit = MILLION * SCALE * 100n * SCALE
  return (2n * marked + unit) / (2n * unit)
}

/** What was charged for token usage: with its hold, by a consumption, or by none. */
const chargedFor = ({ credits }: PrepaidBooks, usage: Usage) => {
  const hold = credits.flatMap(({ holds }) => holds).find(({ id }) => id === usage.holdId)
  const consumption = credits
    .flatMap(({ entries }) => entries)
    .filter(({ consumptionId }) => consumptionId !== null && consumptionId === usage.consumptionId)
    .reduce((sum, { available, debt }) => sum + debt - available, 0n)
  return { hold: hold?.committed ?? null, consumption }
}

/** Token usage is charged with its hold or by itself, once, and what its version says. What has no price is not charged. */
export const tokensAreChargedOnce: Check = (books) =>
  books.tokenUsages.flatMap(({ tenant, usage }) => {
    const { amount, holdId, id, rateCard, status, version } = usage
    const card = books.rateCards.find(
      (one) =>
        one.card.key === rateCard &&
        one.card.version === version &&
        Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant),
    )
    if (card === undefined) return [`${id} is of ${rateCard}@${version}, which nobody pushed`]
    const price = priceOf(card.card, usage)
    const { consumption, hold } = chargedFor(books, usage)
    const total = consumption + (hold ?? 0n)
    const isRight =
      status === "rated"
        ? price !== undefined && amount === price && total === price
        : price === undefined && amount === null && total === 0n
    return [
      ...(isRight ? [] : [`${id} is ${status} with ${amount}, was charged ${total}, and costs ${price}`]),
      ...((holdId === null) === (hold === null) ? [] : [`${id} is of ${holdId}, which is not committed`]),
    ]
  })

/** A hold, a key and a charge have one token usage. */
export const tokensAreRecordedOnce: Check = ({ tokenUsages }) => {
  const names = tokenUsages.flatMap(
    ({ usage: { consumptionId, customerId, holdId, idempotencyKey, unit } }) => [
      ...(consumptionId === null ? [] : [consumptionId]),
      ...(holdId === null ? [] : [holdId]),
      ...(idempotencyKey === null ? [] : [`${customerId} ${unit} ${idempotencyKey}`]),
    ],
  )
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `${name} has two token usages`)
}

interface Payload {
  readonly type: string
  readonly data: { readonly token_usage_id: string; readonly customer_id: string }
}

/** What had no price when it was recorded is told once. Of a customer who was erased, nothing is told any more. */
export const unratedIsTold: Check = ({ events, transactions }) => {
  const erased = erasedIn({ transactions })
  const recorded = transactions.flat().flatMap((change) => {
    if (change.type !== "token usage" || change.usage.status !== "unrated") return []
    return erased.has(change.usage.customerId) ? [] : [change.usage.id]
  })
  const told = events.flatMap(({ event }) => {
    const { data, type } = JSON.parse(event.payload) as Payload
    return type === "usage.unrated" && !erased.has(data.customer_id) ? [data.token_usage_id] : []
  })
  const [expected, given] = [recorded.toSorted().join(), told.toSorted().join()]
  return expected === given ? [] : [`unrated token usage that was told is ${given}, and not ${expected}`]
}
