/**
 * How long the invoices of usage wait for records that come late.
 */
import type {
  BillingEffect,
  Documented,
  Period,
  PeriodLine,
  PlanVersionRef,
  TermsOf,
  UsageQuery,
} from "@billwright/engine"

/** How long a draft with usage waits, in hours, if its plan does not say. */
const DEFAULT_GRACE_HOURS = 1

const graceHoursOf = (plan: PlanVersionRef, termsOf: TermsOf): number =>
  termsOf(plan).policy?.grace_hours ?? DEFAULT_GRACE_HOURS

/** How long the invoice at the end of a part waits for late usage, if invoices of the usage so far have billed something of it. */
export const graceOf = (
  { period: { segments }, queries }: { readonly period: Period; readonly queries: ReadonlyArray<UsageQuery> },
  documented: ReadonlyArray<Documented>,
  { at, soFar }: BillingEffect,
  termsOf: TermsOf,
): number => {
  if (soFar === true) return 0
  const ends = queries.filter(({ after, charge, segment }) => {
    const isBilled = documented.some((one) => one.segment === segment && one.charge === charge.key)
    return after.end === at && isBilled
  })
  const plans = ends.flatMap(({ segment }) => segments[segment]?.plan ?? [])
  return Math.max(0, ...plans.map((plan) => graceHoursOf(plan, termsOf)))
}

/** How long the invoice of a line waits for late usage: if it is the first line of what it bills. */
export const graceOfLine = ({ kind, plan }: PeriodLine, termsOf: TermsOf): number =>
  kind === "usage" ? graceHoursOf(plan, termsOf) : 0
