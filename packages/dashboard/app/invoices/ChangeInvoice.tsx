/**
 * Actions on an invoice that ask nothing but whether it should be done.
 */
import { useLocation } from "wouter"
import type { Client } from "../api/Client.ts"
import type { Invoice } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import * as Money from "../Money.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { toast } from "../ui/Toast.tsx"
import { issuedText, nameOf } from "./InvoiceStates.ts"

export type Change = "finalize" | "void" | "mark_uncollectible" | "delete"

interface Texts {
  readonly title: (money: Moneys, name: string) => string
  readonly description: (money: Moneys) => string
  readonly action: readonly [label: string, running: string]
  readonly isDangerous: boolean
  /** Gives what was done. */
  readonly run: (client: Client, id: string) => Promise<string>
}

/** The money that an action is about. */
interface Moneys {
  readonly total: string
  readonly due: string
}

const CHANGES: Readonly<Record<Change, Texts>> = {
  finalize: {
    title: ({ total }) => `Issue the invoice over ${total}?`,
    description: ({ due }) =>
      `It gets its number, and never changes again. The customer then has ${due} to pay.`,
    action: ["Issue the invoice", "Issuing…"],
    isDangerous: false,
    run: async (client, id) =>
      issuedText(await client.call("post", "/v1/invoices/{id}/finalize", { path: { id } })),
  },
  void: {
    title: ({ total }, name) => `Void ${name} over ${total}?`,
    description: ({ due }) =>
      `The customer no longer has to pay ${due}, and what it billed is not billed again. It keeps its number. This can't be undone.`,
    action: ["Void the invoice", "Voiding…"],
    isDangerous: true,
    run: async (client, id) => {
      await client.call("post", "/v1/invoices/{id}/void", { path: { id } })
      return "Voided"
    },
  },
  mark_uncollectible: {
    title: ({ due }, name) => `Write off ${due} of ${name}?`,
    description: ({ due }) =>
      `Nothing asks for the ${due} any more. If the money comes after all, it can still be paid.`,
    action: ["Write it off", "Writing it off…"],
    isDangerous: true,
    run: async (client, id) => {
      await client.call("post", "/v1/invoices/{id}/mark_uncollectible", { path: { id } })
      return "Written off"
    },
  },
  delete: {
    title: ({ total }) => `Delete the draft over ${total}?`,
    description: () => "Its invoice items are pending again. The draft itself is gone for good.",
    action: ["Delete the draft", "Deleting…"],
    isDangerous: true,
    run: async (client, id) => {
      await client.call("delete", "/v1/invoices/{id}", { path: { id } })
      return "Deleted"
    },
  },
}

export const ChangeInvoice = ({
  change,
  invoice,
  onClose,
}: {
  readonly change: Change
  readonly invoice: Invoice
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [, navigate] = useLocation()
  const { action, description, isDangerous, run, title } = CHANGES[change]
  const { amount_due: due, currency, total } = invoice
  const money = { total: Money.format(total, currency), due: Money.format(due, currency) }
  return (
    <ActionDialog
      action={action}
      description={description(money)}
      isDangerous={isDangerous}
      onClose={onClose}
      onDone={(done) => {
        toast(done)
        onClose()
        if (change === "delete") navigate("/invoices")
        void refresh()
      }}
      run={() => run(client, invoice.id)}
      title={title(money, nameOf(invoice))}
    />
  )
}
