import { useState } from "react"
import type { Invoice } from "../api/Types.ts"
import { type Change, ChangeInvoice } from "./ChangeInvoice.tsx"
import { CreditInvoice } from "./CreditInvoice.tsx"
import { ChargeInvoice, RecordPayment } from "./PayInvoice.tsx"

type Dialog = Change | "charge" | "record" | "credit"

interface Offer {
  readonly dialog: Dialog
  readonly label: string
  readonly look?: "primary" | "dangerous"
}

const OFFERS: Readonly<Record<Invoice["available_actions"][number], ReadonlyArray<Offer>>> = {
  finalize: [{ dialog: "finalize", label: "Issue…", look: "primary" }],
  pay: [
    { dialog: "charge", label: "Charge…", look: "primary" },
    { dialog: "record", label: "Record a payment…" },
  ],
  credit: [{ dialog: "credit", label: "Credit…" }],
  void: [{ dialog: "void", label: "Void…", look: "dangerous" }],
  mark_uncollectible: [{ dialog: "mark_uncollectible", label: "Write off…", look: "dangerous" }],
}

/** A draft without a subscription is deleted by a call of its own, which isn't among the actions. */
const offersOf = ({ available_actions: actions, status, subscription_ids: ids }: Invoice) => [
  ...actions.flatMap((action) => OFFERS[action]),
  ...(status === "draft" && ids.length === 0
    ? [{ dialog: "delete", label: "Delete…", look: "dangerous" } as const]
    : []),
]

/** What can be done to an invoice as it is. */
export const InvoiceActions = ({ invoice }: { readonly invoice: Invoice }) => {
  const [dialog, setDialog] = useState<Dialog>()
  const props = { invoice, onClose: () => setDialog(undefined) }
  return (
    <>
      {offersOf(invoice).map(({ dialog: opened, label, look = "" }) => (
        <button className={`button ${look}`} key={opened} onClick={() => setDialog(opened)} type="button">
          {label}
        </button>
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
