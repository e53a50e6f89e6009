/**
 * The money: what comes each month, what was invoiced and collected, and what is outstanding. Each figure leads to what
 * makes it.
 */
import { Link } from "wouter"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Figure } from "../ui/Facts.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { type CurrencyMoney, INVOICE_FIGURES, type InvoiceFigure, PAYMENT_FIGURES } from "./Figures.ts"
import { UnbilledUsage } from "./UnbilledUsage.tsx"
import { useMoney } from "./useMoney.ts"

interface CurrencyProps {
  readonly money: CurrencyMoney
}

const countText = (count: number, noun: string): string =>
  count === 1 ? `1 ${noun}` : `${count.toLocaleString("en-GB")} ${noun}s`

/** Invoices that are outstanding, by their age, and those that are tried again. */
const OPEN = ["outstanding", "not_due", "late_thirty", "late_sixty", "late_more", "to_retry"] as const

const OfInvoices = ({ figure, money }: CurrencyProps & { readonly figure: InvoiceFigure }) => {
  const { amount, count } = money[figure]
  return (
    <Figure
      href={`/invoices?figure=${figure}&currency=${money.currency}`}
      name={INVOICE_FIGURES[figure]}
      note={countText(count, "invoice")}
      value={<Amount amount={amount} currency={money.currency} />}
    />
  )
}

const OfCurrency = ({ money }: CurrencyProps) => {
  const { collected, currency, recurring } = money
  return (
    <section aria-labelledby={`money-${currency}`} className="section">
      <h2 id={`money-${currency}`}>{currency}</h2>
      <dl className="figures by-two">
        <Figure
          href={`/subscriptions?phase=active&currency=${currency}`}
          name="Recurring a month"
          note={`${countText(recurring.count, "active subscription")}, without usage and discounts`}
          value={<Amount amount={recurring.amount} currency={currency} />}
        />
        <OfInvoices figure="invoiced" money={money} />
        <Figure
          href={`/payments?figure=collected&currency=${currency}`}
          name={PAYMENT_FIGURES.collected}
          note={countText(collected.count, "payment")}
          value={<Amount amount={collected.amount} currency={currency} />}
        />
      </dl>
      <dl className="figures by-two">
        {OPEN.map((figure) => (
          <OfInvoices figure={figure} key={figure} money={money} />
        ))}
      </dl>
    </section>
  )
}

const NoMoney = () => (
  <EmptyState title="No money yet">
    <p>
      Figures appear with the first <Link href="/subscriptions">subscription</Link> or{" "}
      <Link href="/invoices">invoice</Link>.
    </p>
  </EmptyState>
)

export const MoneyPage = () => (
  <Page
    actions={
      <Link className="button" href="/payments/attention">
        What needs attention
      </Link>
    }
    title="Money"
  >
    <Loaded lines={8} query={useMoney()}>
      {({ currencies, is_complete: isComplete }) => (
        <>
          {!isComplete && (
            <p className="notice warning" role="status">
              Active subscriptions have too many different prices to add all of them up. What recurs is more
              than is shown.
            </p>
          )}
          {currencies.length === 0 && <NoMoney />}
          {currencies.map((money) => (
            <OfCurrency key={money.currency} money={money} />
          ))}
          {currencies.length > 0 && <UnbilledUsage />}
        </>
      )}
    </Loaded>
  </Page>
)
