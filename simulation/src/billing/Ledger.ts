/**
 * What the periods of a subscription cost by its usage records: computed from the records one by one, and without
 * anything that was billed.
 */
import { Tenant } from "@billwright/core"
import {
  linesOf,
  type Period,
  type PlanTerms,
  type TermsOf,
  usageQueries,
  type UsageTotal,
} from "@billwright/engine"
import type { Books } from "./Books.ts"

/** What a line is of: the same text for all lines whose sum is one cost. */
export const subjectOf = (period: number, segment: number, charge: string | null, group: string | null) =>
  JSON.stringify([period, segment, charge, group])

type OneSubscription = Books["subscriptions"][number]

const termsOf = (books: Books, tenant: string): TermsOf => {
  const terms = new Map<string, PlanTerms>()
  for (const { tenant: owner, version } of books.planVersions) {
    if (Tenant.tenantKey(owner) === tenant) terms.set(`${version.planKey}@${version.version}`, version.terms)
  }
  return ({ key, version }) => terms.get(`${key}@${version}`)!
}

/** The sum of the records of a customer in a span. */
const sumOf = (
  { meters, records }: Books,
  { subscription, tenant }: OneSubscription,
  meterKey: string | undefined,
  span: { readonly start: number; readonly end: number },
): bigint => {
  const meter = meters.find(({ key }) => key === meterKey)
  let sum = 0n
  for (const { record, tenant: owner } of records) {
    const at = record.timestamp.epochMilliseconds
    const counts =
      Tenant.tenantKey(owner) === Tenant.tenantKey(tenant) &&
      record.customerId === subscription.customerId &&
      record.productId === meter?.productId &&
      record.unit === meter.unit &&
      record.voidedAt === null &&
      at >= span.start &&
      at < span.end
    if (counts) sum += BigInt(record.quantity)
  }
  return sum
}

const costsOfPeriod = (books: Books, one: OneSubscription, period: Period, until: number) => {
  const { currency, periods } = one.subscription.state
  const terms = termsOf(books, Tenant.tenantKey(one.tenant))
  const totals = usageQueries(period, periods.timezone, terms, until).map((query): UsageTotal => {
    const of = (span: { readonly start: number; readonly end: number }) => ({
      quantity: sumOf(books, one, query.charge.meter, span),
    })
    const answer = { segment: query.segment, charge: query.charge.key, group: null, after: of(query.after) }
    return query.before === null ? answer : { ...answer, before: of(query.before) }
  })
  const { timezone } = periods
  return linesOf({ period, timezone, currency, termsOf: terms, until, totals, documented: [] })
}

/** What everything that was due at an instant costs, by subject. */
export const costsOf = (books: Books, one: OneSubscription, until: number): ReadonlyMap<string, bigint> => {
  const costs = new Map<string, bigint>()
  for (const period of one.periods) {
    for (const { charge, gross, group, segment } of costsOfPeriod(books, one, period, until)) {
      costs.set(subjectOf(period.number, segment, charge, group), gross)
    }
  }
  return costs
}
