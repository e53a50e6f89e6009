import { useState } from "react"
import type { Invoice } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { wireAmount } from "../api/WireAmount.ts"
import * as Instant from "../Instant.ts"
import * as Money from "../Money.ts"
import { methodName } from "../payments/PaymentStates.ts"
import { useMethods } from "../payments/useMethods.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { MoneyField } from "../ui/MoneyField.tsx"
import { toast } from "../ui/Toast.tsx"
import { COLLECTIONS, nameOf } from "./InvoiceStates.ts"

interface Props {
  readonly invoice: Invoice
  readonly onClose: () => void
}

const DEFAULT_METHOD = ""

/** What came of an attempt, for people. */
const outcomeOf = ({ amount_due: due, collection, currency, status }: Invoice): string =>
  status === "paid"
    ? "Paid"
    : `${COLLECTIONS[collection]?.[1] ?? "Not paid"}: ${Money.format(due, currency)} is left to pay`

/** Has the payment provider take what is due. */
export const ChargeInvoice = ({ invoice, onClose }: Props) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [method, setMethod] = useState(DEFAULT_METHOD)
  const methods = useMethods(invoice.customer_id).data?.data ?? []
  const due = Money.format(invoice.amount_due, invoice.currency)
  return (
    <ActionDialog
      action={[`Charge ${due}`, "Charging…"]}
      description="The payment provider takes the money now."
      onClose={onClose}
      onDone={(after) => {
        toast(outcomeOf(after))
        onClose()
        void refresh()
      }}
      run={() =>
        client.call("post", "/v1/invoices/{id}/pay", {
          path: { id: invoice.id },
          body: method === DEFAULT_METHOD ? {} : { payment_method_id: method },
        })
      }
      title={`Charge ${due} for ${nameOf(invoice)}?`}
    >
      <Field label="Payment method" name="payment_method_id">
        {(attributes) => (
          <select {...attributes} onChange={(event) => setMethod(event.target.value)} value={method}>
            <option value={DEFAULT_METHOD}>The customer's default</option>
            {methods
              .filter(({ status }) => status === "attached")
              .map((each) => (
                <option key={each.id} value={each.id}>
                  {methodName(each)}
                </option>
              ))}
          </select>
        )}
      </Field>
    </ActionDialog>
  )
}

/** Records money that came without a provider. */
export const RecordPayment = ({ invoice, onClose }: Props) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const { amount_due: due, currency } = invoice
  const [amount, setAmount] = useState(Money.decimalOf(due, currency))
  const [paidAt, setPaidAt] = useState("")
  const [reference, setReference] = useState("")
  const [mayExceed, setMayExceed] = useState(false)
  const paid = Instant.fromLocalInput(paidAt)
  return (
    <ActionDialog
      action={["Record the payment", "Recording…"]}
      description={`${Money.format(due, currency)} is left to pay. Record what came without the payment provider, such as by bank transfer.`}
      onClose={onClose}
      onDone={(payment) => {
        toast(`Recorded ${Money.format(payment.amount, currency)}`)
        onClose()
        void refresh()
      }}
      run={async () =>
        client.call("post", "/v1/payments", {
          body: {
            invoice_id: invoice.id,
            amount: wireAmount("amount", amount, currency),
            ...(paid === undefined ? {} : { paid_at: paid }),
            ...(reference.trim() === "" ? {} : { reference: reference.trim() }),
            accept_overpayment: mayExceed,
          },
        })
      }
      title={`Record a payment of ${nameOf(invoice)}`}
    >
      <MoneyField currency={currency} label="Amount" name="amount" onChange={setAmount} value={amount} />
      <Field
        hint="How the bank names it. The same reference is recorded once."
        label="Reference"
        name="reference"
      >
        {(attributes) => (
          <input {...attributes} onChange={(event) => setReference(event.target.value)} value={reference} />
        )}
      </Field>
      <Field hint={`In ${Instant.zone}. Empty: now.`} label="When it came" name="paid_at">
        {(attributes) => (
          <input
            {...attributes}
            onChange={(event) => setPaidAt(event.target.value)}
            type="datetime-local"
            value={paidAt}
          />
        )}
      </Field>
      <label className="choice">
        <input checked={mayExceed} onChange={(event) => setMayExceed(event.target.checked)} type="checkbox" />
        <span>More than is due may come. The rest becomes the customer's credit.</span>
      </label>
    </ActionDialog>
  )
}
