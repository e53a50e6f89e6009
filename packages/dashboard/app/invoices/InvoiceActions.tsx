import { useState } from "react"
import type { OperationName } from "../api/MissingPermissions.ts"
import type { Invoice } from "../api/Types.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { type Change, ChangeInvoice } from "./ChangeInvoice.tsx"
import { CreditInvoice } from "./CreditInvoice.tsx"
import { ChargeInvoice, RecordPayment } from "./PayInvoice.tsx"

type Dialog = Change | "charge" | "record" | "credit"

interface Offer {
  readonly dialog: Dialog
  readonly does: OperationName
  readonly label: string
  readonly look?: "primary" | "dangerous"
}

const OFFERS: Readonly<Record<Invoice["available_actions"][number], ReadonlyArray<Offer>>> = {
  finalize: [
    { dialog: "finalize", does: "post /v1/invoices/{id}/finalize", label: "Issue…", look: "primary" },
  ],
  pay: [
    { dialog: "charge", does: "post /v1/invoices/{id}/pay", label: "Charge…", look: "primary" },
    { dialog: "record", does: "post /v1/payments", label: "Record a payment…" },
  ],
  credit: [{ dialog: "credit", does: "post /v1/credit_notes", label: "Credit…" }],
  void: [{ dialog: "void", does: "post /v1/invoices/{id}/void", label: "Void…", look: "dangerous" }],
  mark_uncollectible: [
    {
      dialog: "mark_uncollectible",
      does: "post /v1/invoices/{id}/mark_uncollectible",
      label: "Write off…",
      look: "dangerous",
    },
  ],
}

/** A draft without a subscription is deleted by a call of its own, which isn't among the actions. */
const DELETE: Offer = {
  dialog: "delete",
  does: "delete /v1/invoices/{id}",
  label: "Delete…",
  look: "dangerous",
}

const offersOf = ({ available_actions: actions, status, subscription_ids: ids }: Invoice) => [
  ...actions.flatMap((action) => OFFERS[action]),
  ...(status === "draft" && ids.length === 0 ? [DELETE] : []),
]

/** What can be done to an invoice as it is. */
export const InvoiceActions = ({ invoice }: { readonly invoice: Invoice }) => {
  const [dialog, setDialog] = useState<Dialog>()
  const props = { invoice, onClose: () => setDialog(undefined) }
  return (
    <>
      {offersOf(invoice).map(({ dialog: opened, does, label, look = "" }) => (
        <ActionButton className={`button ${look}`} key={opened} does={does} onClick={() => setDialog(opened)}>
          {label}
        </ActionButton>
      ))}
      {dialog === "charge" && <ChargeInvoice {...props} />}
      {dialog === "record" && <RecordPayment {...props} />}
      {dialog === "credit" && <CreditInvoice {...props} />}
      {dialog !== undefined && dialog !== "charge" && dialog !== "record" && dialog !== "credit" && (
        <ChangeInvoice {...props} change={dialog} />
      )}
    </>
  )
}
