/**
 * The rules of coupons, computed from invoices alone.
 */
import { Tenant } from "@billwright/core"
import { Currency, Exact, type Line } from "@billwright/engine"
import type { Books } from "./Books.ts"

type OneRedemption = Books["redemptions"][number]
type Terms = OneRedemption["redemption"]["terms"]

/** The discounts of a redemption: what each of its invoices took off. */
const discountsOf = (books: Books, { redemption, tenant }: OneRedemption) =>
  books.invoices
    .filter((one) => Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant))
    .flatMap(({ invoice }) =>
      invoice.state.discounts
        .filter(({ id }) => id === redemption.id)
        .map((discount) => {
          const cause = invoice.causes.find((one) => one.subscriptionId === redemption.subscriptionId)
          return { discount, invoice, period: cause?.effect.period.number ?? -1 }
        }),
    )

/** The fixed amount of each period, in the minor unit. */
const amountEach = ({ amount }: Terms, currency: string): bigint =>
  Exact.roundTo(Exact.ofDecimal(amount?.[currency] ?? "0"), Currency.exponentOf(currency) ?? 0)

const mostPeriods = ({ duration, periods }: Terms): number =>
  duration === "once" ? 1 : duration === "forever" ? Number.POSITIVE_INFINITY : (periods ?? 0)

/** No more periods than the coupon has, and no more in each of them, or in all with what is carried over. */
const problemsOfUse = (
  { currency, terms }: OneRedemption["redemption"],
  used: ReadonlyMap<number, bigint>,
): ReadonlyArray<string> => {
  const isCarried = terms.carry === true
  const most = mostPeriods(terms)
  const problems: Array<string> = []
  if (!isCarried && used.size > most) problems.push(`is used in ${used.size} periods of ${most}`)
  if (terms.percent !== undefined) return problems
  const each = amountEach(terms, currency)
  let [sum, count] = [0n, 0]
  for (const [period, amount] of [...used].toSorted(([a], [b]) => a - b)) {
    sum += amount
    count++
    const allowed = isCarried ? each * BigInt(Math.min(count, most)) : each
    if ((isCarried ? sum : amount) > allowed)
      problems.push(`takes ${amount} off in period ${period}, of ${each}`)
  }
  return problems
}

/** A discount is of lines that the coupon covers, while it is on the subscription. */
const problemsOfScope = (
  { createdAt, endedAt, terms: { scope } }: OneRedemption["redemption"],
  found: ReturnType<typeof discountsOf>,
  startedAt: number,
): ReadonlyArray<string> => {
  const isCovered = ({ charge, origin }: Line) =>
    (scope?.plans === undefined || scope.plans.includes(origin?.plan.key ?? "")) &&
    (scope?.charges === undefined || scope.charges.includes(charge ?? ""))
  return found.flatMap(({ discount, invoice }) => {
    const at = Math.max(invoice.causes[0]?.effect.at ?? 0, startedAt)
    const isInTime = createdAt.epochMilliseconds <= at && (endedAt === null || endedAt.epochMilliseconds > at)
    const lines = new Map(invoice.state.lines.map((line) => [line.id, line]))
    const isOff = discount.parts.some(({ lineId }) => !lines.has(lineId) || !isCovered(lines.get(lineId)!))
    return [
      ...(isInTime ? [] : [`is on ${invoice.id}, which was made when the subscription did not have it`]),
      ...(isOff ? [`takes off lines of ${invoice.id} that it does not cover`] : []),
    ]
  })
}

const problemsOfRedemption = (books: Books, one: OneRedemption): ReadonlyArray<string> => {
  const found = discountsOf(books, one)
  const used = new Map<number, bigint>()
  for (const { discount, period } of found) used.set(period, (used.get(period) ?? 0n) + discount.amount)
  const owner = books.subscriptions.find(
    ({ subscription }) => subscription.id === one.redemption.subscriptionId,
  )
  const startedAt = owner?.subscription.createdAt.epochMilliseconds ?? 0
  return [...problemsOfUse(one.redemption, used), ...problemsOfScope(one.redemption, found, startedAt)].map(
    (problem) => `${one.redemption.id} ${problem}`,
  )
}

/** Limits of redemptions hold, by customer and in all, and coupons count theirs. */
const problemsOfCoupon = (
  books: Books,
  { coupon, tenant }: Books["coupons"][number],
): ReadonlyArray<string> => {
  const redeemed = books.redemptions.filter(
    (one) =>
      one.redemption.couponId === coupon.id && Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant),
  )
  const ofCustomers = [...Map.groupBy(redeemed, ({ redemption }) => redemption.customerId).values()]
  const most = coupon.maxRedemptions ?? Number.POSITIVE_INFINITY
  const mostOfOne = coupon.maxRedemptionsPerCustomer ?? Number.POSITIVE_INFINITY
  return [
    ...(redeemed.length <= most ? [] : [`was redeemed ${redeemed.length} times, of ${most}`]),
    ...(ofCustomers.every(({ length }) => length <= mostOfOne)
      ? []
      : ["was redeemed too often by a customer"]),
    ...(coupon.timesRedeemed === redeemed.length
      ? []
      : [`counts ${coupon.timesRedeemed} redemptions of ${redeemed.length}`]),
  ].map((problem) => `${coupon.code} ${problem}`)
}

/** Coupons are redeemed within their limits, and take off what they promise. */
export const couponsGiveWhatTheyPromise = (books: Books): ReadonlyArray<string> => [
  ...books.coupons.flatMap((one) => problemsOfCoupon(books, one)),
  ...books.redemptions.flatMap((one) => problemsOfRedemption(books, one)),
]
