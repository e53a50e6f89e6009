/**
 * What the states of an invoice are called.
 */
import type { Invoice, InvoiceLine } from "../api/Types.ts"
import type { Tone } from "../ui/StateBadge.tsx"

type Named = readonly [tone: Tone, word: string]

export const STATUSES: Readonly<Record<Invoice["status"], Named>> = {
  draft: ["quiet", "Draft"],
  open: ["wait", "Open"],
  paid: ["good", "Paid"],
  void: ["quiet", "Void"],
  uncollectible: ["bad", "Uncollectible"],
}

/** The states for a filter. */
export const STATUS_OPTIONS = Object.entries(STATUSES).map(([value, [, word]]) => [value, word] as const)

/** How the payment of an open invoice fares, for people. States that the status of the invoice says have no text. */
export const COLLECTIONS: Readonly<Record<Invoice["collection"], Named | undefined>> = {
  idle: undefined,
  collecting: ["wait", "Collecting"],
  paid: undefined,
  retrying: ["bad", "Declined, tried again"],
  awaiting_method: ["wait", "No payment method"],
  awaiting_customer: ["wait", "Customer must confirm"],
  processing: ["wait", "Processing"],
  unresolved: ["bad", "Outcome unknown"],
  exhausted: ["bad", "Declined for good"],
  needs_attention: ["bad", "Needs attention"],
  stopped: undefined,
}

export const LINE_KINDS: Readonly<Record<InvoiceLine["kind"], string>> = {
  advance: "in advance",
  usage: "usage",
  credit: "credit for unused time",
  adjustment: "correction of an earlier invoice",
  item: "one-off",
  true_up: "up to the minimum of the plan",
  top_up: "credits bought",
}

/** How people call it: its number, or that it is a draft. */
export const nameOf = ({ number }: Pick<Invoice, "number">): string =>
  number === null ? "Draft invoice" : `Invoice ${number}`

/** What came of issuing. A tax service is asked in the background: until it answers, the invoice stays a draft. */
export const issuedText = ({ status }: Pick<Invoice, "status">): string =>
  status === "draft" ? "It is issued as soon as the tax service has answered" : "Issued"
