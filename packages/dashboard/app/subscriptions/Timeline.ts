/**
 * What has happened to a subscription, and what will happen by itself.
 */
import type { Invoice, Subscription } from "../api/Types.ts"
import { planText, quantitiesText } from "./SubscriptionStates.ts"

export interface Moment {
  readonly at: string
  readonly text: string
  /** The address of what it is about. */
  readonly href?: string
  /** The total of an invoice. */
  readonly money?: Pick<Invoice, "currency" | "total">
}

type Known = readonly [at: string | null, text: string]

const pendingText = ({ plan, quantities }: NonNullable<Subscription["pending"]>): string => {
  const parts = [plan === null ? "" : planText(plan), quantitiesText(quantities)].filter(
    (part) => part !== "",
  )
  return `Changes to ${parts.join(", ")}`
}

const pendingAt = ({ current_period_end: end, pending }: Subscription): Known => {
  if (pending === null) return [null, ""]
  return [pending.at === "period_end" ? end : pending.at, pendingText(pending)]
}

const ofSubscription = (subscription: Subscription): ReadonlyArray<Known> => {
  const { activated_at: activated, ended_at: ended, ends_at: ends, phase } = subscription
  const willRenew = phase === "active" && ends === null
  return [
    [subscription.created_at, "Created"],
    [subscription.start_at, "Starts"],
    [subscription.trial_end_at, "The trial ends"],
    [activated === subscription.start_at ? null : activated, "Active for the first time"],
    [willRenew ? subscription.current_period_end : null, "Renews"],
    pendingAt(subscription),
    [subscription.paused_at, "Paused"],
    [subscription.resumes_at, "Goes on"],
    [subscription.canceled_at, "Canceled"],
    [ended ?? ends, "Ends"],
    [subscription.past_due_since, "A payment is late since then"],
  ]
}

const ofInvoice = ({
  currency,
  finalizes_at: finalizes,
  id,
  issued_at: issued,
  number,
  total,
}: Invoice): ReadonlyArray<Moment> => {
  const at = issued ?? finalizes
  const text = issued === null ? "A draft is issued" : `Invoice ${number}`
  return at === null ? [] : [{ at, text, href: `/invoices/${id}`, money: { currency, total } }]
}

/** When the next invoice that isn't stored yet is made: after its period. */
const upcomingMoment = (invoice: Invoice | null, stored: ReadonlyArray<Invoice>): ReadonlyArray<Moment> => {
  if (invoice === null || stored.some(({ id }) => id === invoice.id)) return []
  const at = invoice.finalizes_at ?? invoice.period_end
  const { currency, total } = invoice
  return at === null
    ? []
    : [{ at, text: "The next invoice, with the usage so far", money: { currency, total } }]
}

/** All moments in the order of time. */
export const timelineOf = (
  subscription: Subscription,
  invoices: ReadonlyArray<Invoice>,
  upcoming: Invoice | null,
): ReadonlyArray<Moment> =>
  [
    ...ofSubscription(subscription).flatMap(([at, text]) => (at === null ? [] : [{ at, text }])),
    ...invoices.flatMap(ofInvoice),
    ...upcomingMoment(upcoming, invoices),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
