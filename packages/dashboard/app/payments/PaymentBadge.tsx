import type { Payment } from "../api/Types.ts"
import { StateBadge } from "../ui/StateBadge.tsx"
import { PAYMENTS } from "./PaymentStates.ts"

/** The state of a payment. One that a person has to look at says so. */
export const PaymentBadge = ({ payment }: { readonly payment: Pick<Payment, "attention" | "status"> }) => {
  if (payment.attention !== null) return <StateBadge tone="bad" word="Needs attention" />
  const [tone, word] = PAYMENTS[payment.status]
  return <StateBadge tone={tone} word={word} />
}
