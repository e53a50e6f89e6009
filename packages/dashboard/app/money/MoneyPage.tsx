/**
 * The money: what comes each month, what was invoiced and collected, and what is outstanding. Each figure leads to what
 * makes it.
 */
import { Link } from "wouter"
import type { Invoice, Payment } from "../api/Types.ts"
import { sum } from "../Quantity.ts"
import { useNow } from "../ui/Clock.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Figure } from "../ui/Facts.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { CutNote } from "./CutNote.tsx"
import { amountOf, collectedOf, DAYS, invoicesOf, WHICH, WHICH_NAMES, type Which } from "./Sums.ts"
import { UnbilledUsage } from "./UnbilledUsage.tsx"
import { type Recurring, useAllInvoices, useCollected, useRecurring } from "./useMoney.ts"

interface CurrencyProps {
  readonly currency: string
  readonly invoices: ReadonlyArray<Invoice>
  readonly payments: ReadonlyArray<Payment>
  readonly recurring: Recurring | undefined
}

const countText = (count: number): string =>
  count === 1 ? "1 invoice" : `${count.toLocaleString("en-GB")} invoices`

const InvoiceFigure = ({
  currency,
  invoices,
  which,
}: Pick<CurrencyProps, "currency" | "invoices"> & { readonly which: Which }) => {
  const found = invoicesOf(which, currency, invoices, useNow())
  return (
    <Figure
      href={`/money/made-of?which=${which}&currency=${currency}`}
      name={WHICH_NAMES[which]}
      note={countText(found.length)}
      value={<Amount amount={sum(found.map((invoice) => amountOf(which, invoice)))} currency={currency} />}
    />
  )
}

const OfCurrency = ({ currency, invoices, payments, recurring }: CurrencyProps) => {
  const collected = collectedOf(currency, payments, useNow())
  const monthly = recurring?.byCurrency.get(currency)
  const [invoiced, ...open] = WHICH
  return (
    <section aria-labelledby={`money-${currency}`} className="section">
      <h2 id={`money-${currency}`}>{currency}</h2>
      <dl className="figures by-two">
        <Figure
          href="/subscriptions?phase=active"
          name="Recurring a month"
          note="active subscriptions, without usage and discounts"
          value={recurring === undefined ? "…" : <Amount amount={monthly ?? 0n} currency={currency} />}
        />
        <InvoiceFigure currency={currency} invoices={invoices} which={invoiced} />
        <Figure
          href={`/money/made-of?which=collected&currency=${currency}`}
          name={`Collected in ${DAYS} days`}
          note={collected.length === 1 ? "1 payment" : `${collected.length} payments`}
          value={<Amount amount={sum(collected.map(({ amount }) => amount))} currency={currency} />}
        />
      </dl>
      <dl className="figures by-two">
        {open.map((which) => (
          <InvoiceFigure currency={currency} invoices={invoices} key={which} which={which} />
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

export const MoneyPage = () => {
  const invoices = useAllInvoices()
  const payments = useCollected()
  const recurring = useRecurring()
  return (
    <Page
      actions={
        <Link className="button" href="/payments/attention">
          What needs attention
        </Link>
      }
      title="Money"
    >
      <Loaded lines={8} query={invoices}>
        {(all) => {
          const currencies = new Set([
            ...all.items.map(({ currency }) => currency),
            ...(recurring.data?.byCurrency.keys() ?? []),
          ])
          return (
            <>
              <CutNote isCut={all.isCut} nouns="invoices" />
              <CutNote isCut={payments.data?.isCut ?? false} nouns="payments" />
              <CutNote isCut={recurring.data?.isCut ?? false} nouns="active subscriptions" />
              {currencies.size === 0 && <NoMoney />}
              {[...currencies].toSorted().map((currency) => (
                <OfCurrency
                  currency={currency}
                  invoices={all.items}
                  key={currency}
                  payments={payments.data?.items ?? []}
                  recurring={recurring.data}
                />
              ))}
              {currencies.size > 0 && <UnbilledUsage />}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
