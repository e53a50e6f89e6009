import { useState } from "react"
import type { Payment } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { wireAmount } from "../api/WireAmount.ts"
import * as Money from "../Money.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { MoneyField } from "../ui/MoneyField.tsx"
import { type Reason, ReasonField } from "../ui/ReasonField.tsx"
import { toast } from "../ui/Toast.tsx"
import { REFUNDS } from "./PaymentStates.ts"

interface Props {
  readonly payment: Payment
  readonly onClose: () => void
}

/** The sum that a refund asks for. Empty while it is not known, or can't be read. */
const sumOf = (entered: string, left: bigint | undefined, currency: string): string => {
  const sum = entered.trim() === "" ? left : Money.parse(entered, currency)
  return sum === undefined ? "" : ` ${Money.format(sum, currency)}`
}

/** Gives money of a payment back by the way it came. `left`: what is left of it, if that is known. */
export const RefundPayment = ({ left, onClose, payment }: Props & { readonly left: bigint | undefined }) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const { currency } = payment
  const [amount, setAmount] = useState("")
  const [reason, setReason] = useState<Reason>("other")
  const whole = Money.format(payment.amount, currency)
  return (
    <ActionDialog
      action={[`Refund${sumOf(amount, left, currency)}`, "Refunding…"]}
      description={`The payment took ${whole}${left === undefined ? "" : `, of which ${Money.format(left, currency)} is left`}. A refund alone changes no invoice: credit the invoice instead if less is owed.`}
      isDangerous
      onClose={onClose}
      onDone={(refund) => {
        toast(`Refund of ${Money.format(refund.amount, currency)}: ${REFUNDS[refund.status][1]}`)
        onClose()
        void refresh()
      }}
      run={async () =>
        client.call("post", "/v1/refunds", {
          body: {
            payment_id: payment.id,
            reason,
            ...(amount.trim() === "" ? {} : { amount: wireAmount("amount", amount, currency) }),
          },
        })
      }
      title={`Refund the payment of ${whole}`}
    >
      <MoneyField
        currency={currency}
        hint="Empty: all that is left of the payment."
        label="Amount"
        name="amount"
        onChange={setAmount}
        value={amount}
      />
      <ReasonField onChange={setReason} value={reason} />
    </ActionDialog>
  )
}

/** Closes an open payment at its provider. */
export const CancelPayment = ({ onClose, payment }: Props) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const money = Money.format(payment.amount, payment.currency)
  return (
    <ActionDialog
      action={["Stop the payment", "Stopping…"]}
      description={`Nothing is charged for its invoice by itself any more. The ${money} stay due. If the provider has taken them before, the payment has succeeded instead.`}
      isDangerous
      onClose={onClose}
      onDone={({ status }) => {
        toast(status === "succeeded" ? "It had succeeded before" : "Stopped")
        onClose()
        void refresh()
      }}
      run={() => client.call("post", "/v1/payments/{id}/cancel", { path: { id: payment.id } })}
      title={`Stop the payment of ${money}?`}
    />
  )
}
