/**
 * The lines of an invoice. Each can be unfolded down to the records that it is made of.
 */
import { useState } from "react"
import { Link } from "wouter"
import type { Invoice, InvoiceLine } from "../api/Types.ts"
import * as Exact from "../Exact.ts"
import * as Money from "../Money.ts"
import * as Quantity from "../Quantity.ts"
import { Amount } from "../ui/Money.tsx"
import { LINE_KINDS } from "./InvoiceStates.ts"
import { LineRecords } from "./LineRecords.tsx"
import { type Previewed, ServicePeriod } from "./ServicePeriod.tsx"
import { Steps } from "./Steps.tsx"

type Receipt = NonNullable<InvoiceLine["receipt"]>

const whereText = ({ where }: Receipt): string =>
  Object.entries(where)
    .map(([name, values]) => `, ${name} ${values.join(" or ")}`)
    .join("")

interface LineProps {
  /** `undefined` for an invoice that isn't stored. */
  readonly invoiceId: string | undefined
  readonly line: InvoiceLine
  readonly previewed: Previewed | undefined
}

/** The usage behind a line: its total, and on request its records. */
const Usage = ({ invoiceId, line, previewed, receipt }: LineProps & { readonly receipt: Receipt }) => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div className="section">
      <p>
        {Exact.format(receipt.total)} of the meter <code>{receipt.meter}</code>
        {whereText(receipt)}, from {Quantity.format(receipt.record_count)}{" "}
        {receipt.record_count === 1 ? "record" : "records"},{" "}
        <ServicePeriod
          end={receipt.period_end}
          previewed={previewed}
          start={receipt.period_start}
          subscriptionId={line.subscription_id}
        />
      </p>
      {invoiceId !== undefined && receipt.record_count > 0 && (
        <button
          aria-expanded={isOpen}
          className="disclosure"
          onClick={() => setIsOpen(!isOpen)}
          type="button"
        >
          {isOpen ? "Hide the records" : "Show the records"}
        </button>
      )}
      {isOpen && (
        <p className="muted">
          Newest first, as they count now. A correction on a later invoice bills those that came too late for
          this one.
        </p>
      )}
      {isOpen && invoiceId !== undefined && <LineRecords invoiceId={invoiceId} line={line.id} />}
    </div>
  )
}

const Origin = ({ line }: { readonly line: InvoiceLine }) => (
  <p className="muted">
    {line.subscription_id !== null && (
      <>
        of the <Link href={`/subscriptions/${line.subscription_id}`}>subscription</Link>
      </>
    )}
    {line.plan !== null && (
      <>
        {" "}
        with{" "}
        <Link href={`/plans/${line.plan.key}?version=${line.plan.version}`}>
          {line.plan.key}, version {line.plan.version}
        </Link>
      </>
    )}
    {line.credit_of !== null && (
      <>
        {line.subscription_id !== null && ", "}gives back of{" "}
        <Link href={`/invoices/${line.credit_of.invoice_id}`}>an earlier invoice</Link>
      </>
    )}
  </p>
)

const hasOrigin = ({ credit_of: credit, plan, subscription_id: subscription }: InvoiceLine): boolean =>
  credit !== null || plan !== null || subscription !== null

const LineItem = ({ currency, invoiceId, line, previewed }: LineProps & { readonly currency: string }) => (
  <li>
    <details className="invoice-line">
      <summary>
        <span className="grow">
          <span className="strong">
            {line.description}
            {line.group !== null && `: ${line.group}`}
          </span>{" "}
          <span className="muted">
            {LINE_KINDS[line.kind]}
            {line.period_start !== null && (
              <>
                {", "}
                <ServicePeriod
                  end={line.period_end}
                  previewed={previewed}
                  start={line.period_start}
                  subscriptionId={line.subscription_id}
                />
              </>
            )}
          </span>
        </span>
        {line.quantity !== null && <span className="muted quantity">{Exact.format(line.quantity)}</span>}
        <Amount amount={line.amount} currency={currency} />
      </summary>
      <div className="unfolded">
        <Steps currency={currency} steps={line.steps} />
        {BigInt(line.discount) !== 0n && (
          <p>
            Discounts take off {Money.format(line.discount, currency)}: {Money.format(line.net, currency)} is
            left.
          </p>
        )}
        {line.receipt !== null && (
          <Usage invoiceId={invoiceId} line={line} previewed={previewed} receipt={line.receipt} />
        )}
        {hasOrigin(line) && <Origin line={line} />}
      </div>
    </details>
  </li>
)

/** The lines. `isStored`: whether the API has the invoice, so that it knows the records of its lines. */
export const InvoiceLines = ({
  invoice,
  isStored = true,
  previewed,
}: {
  readonly invoice: Invoice
  readonly isStored?: boolean
  readonly previewed?: Previewed
}) =>
  invoice.lines.length === 0 ? (
    <p className="muted">It has no lines.</p>
  ) : (
    <ul aria-label="Lines" className="rows">
      {invoice.lines.map((line) => (
        <LineItem
          currency={invoice.currency}
          invoiceId={isStored ? invoice.id : undefined}
          key={line.id}
          line={line}
          previewed={previewed}
        />
      ))}
    </ul>
  )
