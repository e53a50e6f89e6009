import { useState } from "react"
import type { Invoice } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { wireAmount } from "../api/WireAmount.ts"
import * as Money from "../Money.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { MoneyField } from "../ui/MoneyField.tsx"
import { type Reason, ReasonField } from "../ui/ReasonField.tsx"
import { toast } from "../ui/Toast.tsx"
import { nameOf } from "./InvoiceStates.ts"

/** What is left to give back: the total without what credit notes gave back before. */
const leftOf = ({ amount_credited: credited, total }: Invoice): bigint => BigInt(total) - BigInt(credited)

/** Gives back a part of an invoice, or all that is left of it. */
export const CreditInvoice = ({
  invoice,
  onClose,
}: {
  readonly invoice: Invoice
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const { currency } = invoice
  const [isWhole, setIsWhole] = useState(true)
  const [amount, setAmount] = useState("")
  const [refund, setRefund] = useState("")
  const [reason, setReason] = useState<Reason>("other")
  const left = Money.format(leftOf(invoice), currency)
  const due = Money.format(invoice.amount_due, currency)
  const run = async () =>
    client.call("post", "/v1/credit_notes", {
      body: {
        invoice_id: invoice.id,
        reason,
        ...(isWhole ? {} : { amount: wireAmount("amount", amount, currency) }),
        ...(refund.trim() === "" ? {} : { refund: wireAmount("refund", refund, currency) }),
      },
    })
  return (
    <ActionDialog
      action={["Create the credit note", "Creating…"]}
      description={`${left} is left to give back. What is still due (${due}) is waived first. The rest is refunded as you say below, or becomes credit of the customer.`}
      isDangerous
      onClose={onClose}
      onDone={(note) => {
        toast(`Credit note ${note.number} over ${Money.format(note.total, currency)}`)
        onClose()
        void refresh()
      }}
      run={run}
      title={`Credit ${nameOf(invoice)}`}
    >
      <fieldset className="choices">
        <legend>How much</legend>
        <label className="choice">
          <input checked={isWhole} name="how-much" onChange={() => setIsWhole(true)} type="radio" />
          <span>All that is left: {left}</span>
        </label>
        <label className="choice">
          <input checked={!isWhole} name="how-much" onChange={() => setIsWhole(false)} type="radio" />
          <span>One amount, spread over the lines in proportion</span>
        </label>
      </fieldset>
      {!isWhole && (
        <MoneyField
          currency={currency}
          hint={
            invoice.tax_behavior === "inclusive"
              ? "With tax, like the lines."
              : "Without tax, like the lines. The tax is added."
          }
          label="Amount"
          name="amount"
          onChange={setAmount}
          value={amount}
        />
      )}
      <ReasonField onChange={setReason} value={reason} />
      {BigInt(invoice.amount_paid) > 0n && (
        <MoneyField
          currency={currency}
          hint={`Of the ${Money.format(invoice.amount_paid, currency)} that was paid, what goes back by the way it came. Empty: nothing.`}
          label="Refund"
          name="refund"
          onChange={setRefund}
          value={refund}
        />
      )}
    </ActionDialog>
  )
}
