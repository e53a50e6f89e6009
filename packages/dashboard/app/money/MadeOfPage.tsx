/**
 * The invoices or payments that a figure of money is made of.
 */
import { InvoiceRows } from "../invoices/InvoiceRows.tsx"
import { PaymentRows } from "../payments/PaymentLines.tsx"
import { sum } from "../Quantity.ts"
import { useNow } from "../ui/Clock.ts"
import { Figure } from "../ui/Facts.tsx"
import { useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { CutNote } from "./CutNote.tsx"
import { amountOf, collectedOf, DAYS, invoicesOf, WHICH, WHICH_NAMES, type Which } from "./Sums.ts"
import { useAllInvoices, useCollected } from "./useMoney.ts"

const Total = ({
  amount,
  currency,
  name,
}: {
  readonly name: string
  readonly amount: bigint
  readonly currency: string
}) => (
  <dl className="figures">
    <Figure name={name} value={<Amount amount={amount} currency={currency} />} />
  </dl>
)

const Invoices = ({ currency, which }: { readonly which: Which; readonly currency: string }) => {
  const now = useNow()
  return (
    <Loaded lines={6} query={useAllInvoices()}>
      {({ isCut, items }) => {
        const found = invoicesOf(which, currency, items, now)
        return (
          <>
            <Total
              amount={sum(found.map((invoice) => amountOf(which, invoice)))}
              currency={currency}
              name={which === "invoiced" ? "Together" : "Left to pay together"}
            />
            <CutNote isCut={isCut} nouns="invoices" />
            <InvoiceRows empty="None." invoices={found} isDue={which !== "invoiced"} />
          </>
        )
      }}
    </Loaded>
  )
}

const Payments = ({ currency }: { readonly currency: string }) => {
  const now = useNow()
  return (
    <Loaded lines={6} query={useCollected()}>
      {({ isCut, items }) => {
        const found = collectedOf(currency, items, now)
        return (
          <>
            <Total amount={sum(found.map(({ amount }) => amount))} currency={currency} name="Together" />
            <CutNote isCut={isCut} nouns="payments" />
            <PaymentRows empty="None." payments={found} />
          </>
        )
      }}
    </Loaded>
  )
}

const asWhich = (text: string | undefined): Which | undefined => WHICH.find((which) => which === text)

export const MadeOfPage = () => {
  const filters = useFilters()
  const currency = filters.get("currency") ?? "EUR"
  const which = asWhich(filters.get("which"))
  const title = which === undefined ? `Collected in ${DAYS} days` : WHICH_NAMES[which]
  return (
    <Page title={`${title}, ${currency}`} up={{ href: "/money", label: "Money", id: "made-of" }}>
      {which === undefined ? (
        <Payments currency={currency} />
      ) : (
        <Invoices currency={currency} which={which} />
      )}
    </Page>
  )
}
