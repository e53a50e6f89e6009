/**
 * What the states of payments, refunds and disputes are called.
 */
import type { Dispute, Payment, PaymentMethod, Refund } from "../api/Types.ts"
import type { Tone } from "../ui/StateBadge.tsx"

type Named = readonly [tone: Tone, word: string]

export const PAYMENTS: Readonly<Record<Payment["status"], Named>> = {
  open: ["wait", "Waiting"],
  succeeded: ["good", "Succeeded"],
  closed: ["quiet", "Closed"],
}

export const REFUNDS: Readonly<Record<Refund["status"], Named>> = {
  pending: ["wait", "Pending"],
  unresolved: ["bad", "Outcome unknown"],
  succeeded: ["good", "Succeeded"],
  failed: ["bad", "Failed"],
}

export const DISPUTES: Readonly<Record<Dispute["status"], Named>> = {
  open: ["wait", "Open"],
  won: ["good", "Won"],
  lost: ["bad", "Lost"],
}

export const METHODS: Readonly<Record<PaymentMethod["status"], Named>> = {
  pending: ["wait", "Not finished"],
  attached: ["good", "Saved"],
  failed: ["bad", "Failed"],
  detached: ["quiet", "Removed"],
}

/** The states for a filter. */
export const optionsOf = (states: Readonly<Record<string, Named>>) =>
  Object.entries(states).map(([value, [, word]]) => [value, word] as const)

/** How people call a payment method: `Visa •••• 4242`. */
export const methodName = ({ brand, last4, type }: PaymentMethod): string => {
  const kind = brand ?? type ?? "Payment method"
  const named = `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`
  return last4 === null ? named : `${named} •••• ${last4}`
}
