/**
 * How long the invoices of usage wait for records that come late.
 */
import type {
  BillingEffect,
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

/** How long the invoice of a part of a period waits for late usage, when that part ends: also if all of it is billed so far. */
export const graceOf = (
  { period: { segments }, queries }: { readonly period: Period; readonly queries: ReadonlyArray<UsageQuery> },
  { at, soFar }: BillingEffect,
  termsOf: TermsOf,
): number => {
  const closing = soFar === true ? [] : queries.filter(({ after }) => after.end === at)
  const plans = closing.flatMap(({ segment }) => segments[segment]?.plan ?? [])
  return Math.max(0, ...plans.map((plan) => graceHoursOf(plan, termsOf)))
}

/** How long the invoice of a line waits for late usage: if it is the first line of what it bills. */
export const graceOfLine = ({ kind, plan }: PeriodLine, termsOf: TermsOf): number =>
  kind === "usage" ? graceHoursOf(plan, termsOf) : 0
