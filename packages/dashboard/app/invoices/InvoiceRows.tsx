import { Link } from "wouter"
import { UTC } from "../api/Queries.ts"
import type { Invoice } from "../api/Types.ts"
import { Amount } from "../ui/Money.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { InvoiceBadge } from "./InvoiceBadge.tsx"
import { nameOf } from "./InvoiceStates.ts"
import { ServicePeriod } from "./ServicePeriod.tsx"

/** Some invoices, each as one line. `isDue`: with what is left to pay instead of the total. */
export const InvoiceRows = ({
  empty,
  invoices,
  isDue = false,
}: {
  readonly invoices: ReadonlyArray<Invoice>
  readonly empty: string
  readonly isDue?: boolean
}) =>
  invoices.length === 0 ? (
    <p className="muted">{empty}</p>
  ) : (
    <ul className="lines">
      {invoices.map((invoice) => (
        <li className="line linked" key={invoice.id}>
          <span className="line-state wide">
            <InvoiceBadge invoice={invoice} />
          </span>
          <span className="grow two-lines">
            <Link className="row-link clip" href={`/invoices/${invoice.id}`}>
              {nameOf(invoice)}
            </Link>
            {invoice.period_start !== null && (
              <span className="muted clip">
                <ServicePeriod
                  end={invoice.period_end}
                  start={invoice.period_start}
                  subscriptionId={invoice.subscription_id}
                />
              </span>
            )}
          </span>
          <Amount amount={isDue ? invoice.amount_due : invoice.total} currency={invoice.currency} />
          {invoice.issued_at === null ? (
            <span className="muted">not issued</span>
          ) : (
            <ZonedDay at={invoice.issued_at} zone={UTC} />
          )}
        </li>
      ))}
    </ul>
  )
