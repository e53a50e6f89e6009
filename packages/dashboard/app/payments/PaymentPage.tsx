import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { Payment } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { ObjectEvents } from "../events/ObjectEvents.tsx"
import { nameOf } from "../invoices/InvoiceStates.ts"
import { ChargeInvoice } from "../invoices/PayInvoice.tsx"
import { useInvoice } from "../invoices/useInvoice.ts"
import * as Money from "../Money.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { Fact, Facts } from "../ui/Facts.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { PaymentBadge } from "./PaymentBadge.tsx"
import { leftOf } from "./Refundable.ts"
import { CancelPayment, RefundPayment } from "./RefundPayment.tsx"
import { DisputeLines, RefundLines, useDisputes, useRefunds } from "./Returned.tsx"

const REFRESH_MILLIS = 5_000

const usePayment = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/payments/{id}", { path: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.status === "open" ? REFRESH_MILLIS : false),
  })
}

/** What is left to refund. `undefined` if it is not known. */
const useLeft = (payment: Payment) => {
  const which = { payment_id: payment.id }
  const isEnabled = payment.status === "succeeded"
  const [refunds, disputes] = [useRefunds(which, isEnabled), useDisputes(which, isEnabled)]
  return {
    isLoading: refunds.isLoading || disputes.isLoading,
    left: leftOf(payment, refunds.data, disputes.data),
  }
}

const Actions = ({ payment }: { readonly payment: Payment }) => {
  const [dialog, setDialog] = useState<"charge" | "cancel" | "refund">()
  const invoice = useInvoice(payment.invoice_id).data
  const { isLoading, left } = useLeft(payment)
  const close = () => setDialog(undefined)
  const isOpen = payment.status === "open"
  return (
    <>
      {isOpen && invoice?.available_actions.includes("pay") === true && (
        <ActionButton
          className="button primary"
          does="post /v1/invoices/{id}/pay"
          onClick={() => setDialog("charge")}
        >
          {payment.attention === null ? "Charge now…" : "Resolve…"}
        </ActionButton>
      )}
      {!isLoading && left !== 0n && (
        <ActionButton
          className="button dangerous"
          does="post /v1/refunds"
          onClick={() => setDialog("refund")}
        >
          Refund…
        </ActionButton>
      )}
      {isOpen && (
        <ActionButton
          className="button dangerous"
          does="post /v1/payments/{id}/cancel"
          onClick={() => setDialog("cancel")}
        >
          Stop…
        </ActionButton>
      )}
      {dialog === "charge" && invoice !== undefined && <ChargeInvoice invoice={invoice} onClose={close} />}
      {dialog === "cancel" && <CancelPayment onClose={close} payment={payment} />}
      {dialog === "refund" && <RefundPayment left={left} onClose={close} payment={payment} />}
    </>
  )
}

const PaymentFacts = ({ payment }: { readonly payment: Payment }) => {
  const invoice = useInvoice(payment.invoice_id).data
  const { left } = useLeft(payment)
  return (
    <Facts>
      <Fact name="Payment">
        <Identifier id={payment.id} />
      </Fact>
      <Fact name="Customer">
        <CustomerName id={payment.customer_id} />
      </Fact>
      <Fact name="Invoice">
        <Link href={`/invoices/${payment.invoice_id}`}>
          {invoice === undefined ? payment.invoice_id : nameOf(invoice)}
        </Link>
      </Fact>
      <Fact name="Taken by">{payment.provider}</Fact>
      {payment.reference !== null && (
        <Fact name="Reference">
          <Identifier id={payment.reference} />
        </Fact>
      )}
      <Fact name="Asked for">
        <Time at={payment.created_at} />
      </Fact>
      {payment.paid_at !== null && (
        <Fact name="Paid">
          <Time at={payment.paid_at} />
        </Fact>
      )}
      {payment.status === "succeeded" && left !== undefined && (
        <Fact name="Left to refund">
          <Amount amount={left} currency={payment.currency} />
        </Fact>
      )}
      {BigInt(payment.overpaid) > 0n && (
        <Fact name="More than was due">
          <Amount amount={payment.overpaid} currency={payment.currency} />
        </Fact>
      )}
    </Facts>
  )
}

const Attention = ({ attention }: { readonly attention: NonNullable<Payment["attention"]> }) => (
  <div className="notice warning" role="status">
    <p>{attention.message}</p>
    <p className="muted">
      Since <Time at={attention.since} />. Mend the cause first. Resolve then reads the payment at its
      provider, and charges only what was not taken.
    </p>
  </div>
)

const Returned = ({ paymentId }: { readonly paymentId: string }) => {
  const refunds = useRefunds({ payment_id: paymentId })
  const disputes = useDisputes({ payment_id: paymentId })
  return (
    <section aria-labelledby="returned-title" className="section">
      <h2 id="returned-title">Refunds and disputes</h2>
      <Loaded lines={1} query={refunds}>
        {(page) => <RefundLines empty="Nothing was refunded." page={page} />}
      </Loaded>
      <Loaded lines={1} query={disputes}>
        {(page) => page.data.length > 0 && <DisputeLines empty="" page={page} />}
      </Loaded>
    </section>
  )
}

export const PaymentPage = ({ id }: { readonly id: string }) => {
  const query = usePayment(id)
  const payment = query.data
  return (
    <Page
      actions={payment !== undefined && <Actions payment={payment} />}
      aside={payment !== undefined && <PaymentBadge payment={payment} />}
      title={
        payment === undefined ? "Payment" : `Payment of ${Money.format(payment.amount, payment.currency)}`
      }
      up={{ href: "/payments", label: "Payments", id }}
    >
      <Loaded lines={8} query={query}>
        {(loaded) => (
          <>
            {loaded.attention !== null && <Attention attention={loaded.attention} />}
            <PaymentFacts payment={loaded} />
            {loaded.status === "succeeded" && <Returned paymentId={loaded.id} />}
            <ObjectEvents customerId={loaded.customer_id} field="payment_id" id={loaded.id} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
