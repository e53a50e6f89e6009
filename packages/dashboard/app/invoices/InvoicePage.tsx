import { Link } from "wouter"
import { UTC } from "../api/Queries.ts"
import type { CreditNote, Invoice } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { ObjectEvents } from "../events/ObjectEvents.tsx"
import { PaymentLines } from "../payments/PaymentLines.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Fact, Facts, Figure } from "../ui/Facts.tsx"
import { FailureNotice } from "../ui/FailureNotice.tsx"
import { Identifier, shortId } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { REASONS } from "../ui/ReasonField.tsx"
import { Time } from "../ui/Time.tsx"
import { DueDay } from "./DueDay.tsx"
import { InvoiceActions } from "./InvoiceActions.tsx"
import { CollectionBadge, InvoiceBadge } from "./InvoiceBadge.tsx"
import { InvoiceLines } from "./InvoiceLines.tsx"
import { nameOf } from "./InvoiceStates.ts"
import { InvoiceSums } from "./InvoiceSums.tsx"
import { SaveDocument } from "./SaveDocument.tsx"
import { ServicePeriod } from "./ServicePeriod.tsx"
import { useCreditNotes, useInvoice } from "./useInvoice.ts"

/** The most payments of an invoice that are shown. */
const PAYMENTS = 50

const Figures = ({ invoice }: { readonly invoice: Invoice }) => {
  const { currency } = invoice
  return (
    <dl className="figures by-two">
      <Figure name="Total" value={<Amount amount={invoice.total} currency={currency} />} />
      <Figure name="Paid" value={<Amount amount={invoice.amount_paid} currency={currency} />} />
      <Figure name="Credited" value={<Amount amount={invoice.amount_credited} currency={currency} />} />
      <Figure
        name={invoice.status === "draft" ? "To pay once issued" : "Left to pay"}
        value={<Amount amount={invoice.amount_due} currency={currency} />}
      />
    </dl>
  )
}

const Dates = ({ invoice }: { readonly invoice: Invoice }) => (
  <>
    {invoice.period_start !== null && (
      <Fact name="Period">
        <ServicePeriod
          end={invoice.period_end}
          start={invoice.period_start}
          subscriptionId={invoice.subscription_id}
        />
      </Fact>
    )}
    {invoice.issued_at !== null && (
      <Fact name="Issued">
        <ZonedDay at={invoice.issued_at} zone={UTC} />
      </Fact>
    )}
    {invoice.finalizes_at !== null && (
      <Fact name="Issued by itself">
        <Time at={invoice.finalizes_at} />
      </Fact>
    )}
    {invoice.due_at !== null && (
      <Fact name="Due by">
        <DueDay at={invoice.due_at} customerId={invoice.customer_id} />
      </Fact>
    )}
    {invoice.past_due_since !== null && (
      <Fact name="Late since">
        <DueDay at={invoice.past_due_since} customerId={invoice.customer_id} />
      </Fact>
    )}
  </>
)

const InvoiceFacts = ({ invoice }: { readonly invoice: Invoice }) => (
  <Facts>
    <Fact name="Invoice">
      <Identifier id={invoice.id} />
    </Fact>
    <Fact name="Customer">
      <CustomerName id={invoice.customer_id} />
    </Fact>
    {invoice.subscription_ids.length > 0 && (
      <Fact name={invoice.subscription_ids.length === 1 ? "Subscription" : "Subscriptions"}>
        {invoice.subscription_ids.map((id) => (
          <Link className="block" href={`/subscriptions/${id}`} key={id} title={id}>
            <code>{shortId(id)}</code>
          </Link>
        ))}
      </Fact>
    )}
    <Dates invoice={invoice} />
  </Facts>
)

const CreditNoteLine = ({ note }: { readonly note: CreditNote }) => (
  <li className="line">
    <span className="grow two-lines">
      <span className="strong">Credit note {note.number}</span>
      <span className="muted">{REASONS[note.reason]}</span>
    </span>
    <span className="muted note-parts">
      {BigInt(note.waived) > 0n && (
        <span>
          waived <Amount amount={note.waived} currency={note.currency} />
        </span>
      )}
      {BigInt(note.refund) > 0n && (
        <span>
          refunded <Amount amount={note.refund} currency={note.currency} />
        </span>
      )}
      {BigInt(note.to_balance) > 0n && (
        <span>
          kept as credit <Amount amount={note.to_balance} currency={note.currency} />
        </span>
      )}
    </span>
    <Amount amount={note.total} currency={note.currency} />
    <ZonedDay at={note.issued_at} zone={UTC} />
    <SaveDocument
      id={note.id}
      isSmall
      name={`credit-note-${note.number}`}
      path="/v1/credit_notes/{id}/html"
    />
    <SaveDocument id={note.id} isSmall name={`credit-note-${note.number}`} path="/v1/credit_notes/{id}/pdf" />
  </li>
)

const CreditNotes = ({ id }: { readonly id: string }) => (
  <Loaded lines={1} query={useCreditNotes(id)}>
    {({ data, has_more: isCut }) =>
      data.length > 0 && (
        <section aria-labelledby="credit-notes-title" className="section">
          <h2 id="credit-notes-title">Credit notes</h2>
          <ul className="lines">
            {data.map((note) => (
              <CreditNoteLine key={note.id} note={note} />
            ))}
          </ul>
          <CutNote count={data.length} isCut={isCut} />
        </section>
      )
    }
  </Loaded>
)

const Payments = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="payments-title" className="section">
    <h2 id="payments-title">Payments</h2>
    <PaymentLines empty="Nothing was paid or asked for." isAll which={{ invoice_id: id, limit: PAYMENTS }} />
  </section>
)

const Body = ({ invoice }: { readonly invoice: Invoice }) => (
  <>
    <InvoiceFacts invoice={invoice} />
    {invoice.failure !== null && <FailureNotice failure={invoice.failure} />}
    <Figures invoice={invoice} />
    <section aria-labelledby="lines-title" className="section">
      <header className="section-header">
        <h2 id="lines-title">Lines</h2>
        <span className="muted">Open a line to see how it was computed.</span>
      </header>
      <InvoiceLines invoice={invoice} />
      <InvoiceSums invoice={invoice} />
    </section>
    <CreditNotes id={invoice.id} />
    {invoice.status !== "draft" && <Payments id={invoice.id} />}
    <ObjectEvents customerId={invoice.customer_id} field="invoice_id" id={invoice.id} />
  </>
)

const Documents = ({ invoice: { id, number } }: { readonly invoice: Invoice }) => {
  const name = `invoice-${number ?? "draft"}`
  return (
    <>
      <SaveDocument id={id} name={name} path="/v1/invoices/{id}/html" />
      <SaveDocument id={id} name={name} path="/v1/invoices/{id}/pdf" />
    </>
  )
}

export const InvoicePage = ({ id }: { readonly id: string }) => {
  const query = useInvoice(id)
  const invoice = query.data
  return (
    <Page
      actions={
        invoice !== undefined && (
          <>
            <InvoiceActions invoice={invoice} />
            <Documents invoice={invoice} />
          </>
        )
      }
      aside={
        invoice !== undefined && (
          <>
            <InvoiceBadge invoice={invoice} />
            <CollectionBadge collection={invoice.collection} />
          </>
        )
      }
      title={invoice === undefined ? "Invoice" : nameOf(invoice)}
      up={{ href: "/invoices", label: "Invoices", id }}
    >
      <Loaded lines={10} query={query}>
        {(loaded) => <Body invoice={loaded} />}
      </Loaded>
    </Page>
  )
}
